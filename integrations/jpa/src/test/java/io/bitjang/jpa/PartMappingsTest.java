// SPDX-License-Identifier: Apache-2.0
package io.bitjang.jpa;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.bitjang.Wait;
import io.bitjang.jpa.shop.Article;
import io.bitjang.jpa.shop.Contract;
import io.bitjang.jpa.shop.ContractId;
import io.bitjang.jpa.shop.Page;
import jakarta.persistence.EntityManager;
import jakarta.persistence.EntityManagerFactory;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BiConsumer;
import org.hibernate.SessionFactory;
import org.junit.jupiter.api.Test;

/** Parts of other kinds: with the id of the root, with a version of their own, inherited, and ones that don't know their root. */
class PartMappingsTest extends OnJpa {

    private ContractId newContract() {
        long number = number();
        ContractId id = new ContractId("c" + number, 1);
        inTx(em -> {
            Contract contract = new Contract(id);
            contract.close("kim");
            contract.add(number + 1, "first");
            contract.pages().add(new Page(number + 2, "front"));
            em.persist(contract);
        });
        return id;
    }

    private int version(ContractId id) {
        return tx(em -> em.find(Contract.class, id).version());
    }

    /** By how far the version of a new contract moves. */
    private int moved(BiConsumer<EntityManager, Contract> change) {
        ContractId id = newContract();
        int before = version(id);
        inTx(em -> change.accept(em, em.find(Contract.class, id)));
        return version(id) - before;
    }

    @Test
    void every_kind_of_part_moves_the_version_of_its_root() {
        Map<String, BiConsumer<EntityManager, Contract>> changes = new LinkedHashMap<>();
        changes.put(
                "a field of the only part", (em, contract) -> contract.seal().give("lee"));
        changes.put("the only part removed", (em, contract) -> contract.open());
        changes.put(
                "an inherited mark",
                (em, contract) -> contract.articles().get(0).write("new"));
        changes.put(
                "a part with a version, removed",
                (em, contract) -> contract.articles().clear());
        changes.put(
                "a part that does not know its root, removed",
                (em, contract) -> contract.pages().clear());
        changes.put("several of them", (em, contract) -> {
            contract.seal().give("lee");
            contract.articles().get(0).write("new");
            em.flush();
            contract.pages().clear();
            contract.articles().get(0).write("newer");
        });

        changes.forEach((what, change) -> assertThat(moved(change)).as(what).isEqualTo(1));
    }

    @Test
    void a_change_in_a_part_that_does_not_know_its_root_counts_for_nobody() {
        assertThat(moved((em, contract) -> contract.pages().get(0).write("back")))
                .isZero();
    }

    @Test
    void the_version_of_a_part_moves_once_too() {
        ContractId id = newContract();
        inTx(em -> {
            Article article = em.find(Contract.class, id).articles().get(0);
            article.write("new");
            em.flush();
            article.write("newer");
        });

        inTx(em -> assertThat(em.find(Contract.class, id).articles().get(0).edition())
                .isEqualTo(1));
    }

    @Test
    void an_id_may_be_a_class_beside_the_entity() {
        ContractId id = newContract();
        inTx(em -> {
            Contract locked = AggregateLocks.of(em)
                    .lockAll(Contract.class, List.of(id), Wait.none())
                    .get(0);
            assertThat(catchThrowable(
                            () -> inTx(other -> AggregateLocks.of(other).lock(Contract.class, id, Wait.none()))))
                    .isInstanceOf(AggregateBusyException.class);
            locked.seal().give("lee");
        });

        assertThat(version(id)).isEqualTo(1);
        assertThatThrownBy(() -> inTx(em -> AggregateLocks.of(em).lock(Contract.class, "c1", Wait.none())))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("The id of Contract is of type ContractId");
        assertThatThrownBy(() ->
                        inTx(em -> AggregateLocks.of(em).lock(Contract.class, new ContractId("none", 1), Wait.none())))
                .hasMessageContaining("is not there");
    }

    @Test
    void a_shared_cache_does_not_keep_the_version_from_before() {
        ContractId id = newContract();
        Map<String, Object> cache = Map.of(
                "hibernate.cache.use_second_level_cache", true,
                "hibernate.javax.cache.missing_cache_strategy", "create",
                "hibernate.generate_statistics", true);
        try (EntityManagerFactory cached = factory(pool, cache)) {
            SharedVersion shown = new SharedVersion(cached, id);
            assertThat(shown.read()).isZero();
            assertThat(shown.read()).isZero();
            assertThat(cached.unwrap(SessionFactory.class).getStatistics().getSecondLevelCacheHitCount())
                    .as("it is in use")
                    .isPositive();

            for (int i = 1; i <= 3; i++) {
                String text = "text " + i;
                int before = i - 1;
                tx(cached, em -> {
                    em.find(Contract.class, id).articles().get(0).write(text);
                    em.flush();
                    // another reads it into the cache before this one commits
                    assertThat(shown.read()).isEqualTo(before);
                    return true;
                });
                assertThat(shown.read()).isEqualTo(i);
            }
        }
    }

    private record SharedVersion(EntityManagerFactory factory, ContractId id) {

        int read() {
            return tx(factory, em -> em.find(Contract.class, id).version());
        }
    }
}
