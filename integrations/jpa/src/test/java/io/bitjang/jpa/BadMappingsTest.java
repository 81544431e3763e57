// SPDX-License-Identifier: Apache-2.0
package io.bitjang.jpa;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import jakarta.persistence.Entity;
import jakarta.persistence.Id;
import jakarta.persistence.ManyToOne;
import jakarta.persistence.Version;
import org.hibernate.jpa.HibernatePersistenceConfiguration;
import org.junit.jupiter.api.Test;

/** A mark that could never move a version is refused when the application starts. */
class BadMappingsTest {

    @Entity(name = "Unversioned")
    static class Unversioned {
        @Id
        long id;
    }

    @Entity(name = "PartOfUnversioned")
    static class PartOfUnversioned {
        @Id
        long id;

        @ManyToOne
        @PartOf
        Unversioned root;
    }

    @Entity(name = "Versioned")
    static class Versioned {
        @Id
        long id;

        @Version
        long version;
    }

    @Entity(name = "MarkedColumn")
    static class MarkedColumn {
        @Id
        long id;

        @PartOf
        String root;
    }

    @Entity(name = "MarkedTwice")
    static class MarkedTwice {
        @Id
        long id;

        @ManyToOne
        @PartOf
        Versioned one;

        @ManyToOne
        @PartOf
        Versioned other;
    }

    @Entity(name = "MarkedId")
    static class MarkedId {
        @Id
        @ManyToOne
        @PartOf
        Versioned root;
    }

    @Entity(name = "Hen")
    static class Hen {
        @Id
        long id;

        @ManyToOne
        @PartOf
        Egg egg;
    }

    @Entity(name = "Egg")
    static class Egg {
        @Id
        long id;

        @ManyToOne
        @PartOf
        Hen hen;
    }

    private static void start(Class<?>... entities) {
        HibernatePersistenceConfiguration unit = new HibernatePersistenceConfiguration("bad");
        for (Class<?> entity : entities) {
            unit.managedClass(entity);
        }
        unit.property("jakarta.persistence.jdbc.url", "jdbc:h2:mem:bad");
        unit.createEntityManagerFactory().close();
    }

    @Test
    void a_root_without_a_version() {
        assertThatThrownBy(() -> start(Unversioned.class, PartOfUnversioned.class))
                .hasStackTraceContaining("which has no @Version that could move");
    }

    @Test
    void a_mark_on_something_else_than_one_association() {
        for (Class<?> entity : new Class<?>[] {MarkedColumn.class, MarkedTwice.class, MarkedId.class}) {
            assertThatThrownBy(() -> start(Versioned.class, entity))
                    .as(entity.getSimpleName())
                    .hasStackTraceContaining("must have exactly one @PartOf, on an attribute that is a @ManyToOne");
        }
    }

    @Test
    void parts_of_each_other() {
        assertThatThrownBy(() -> start(Hen.class, Egg.class)).hasStackTraceContaining("none is the root");
    }
}
