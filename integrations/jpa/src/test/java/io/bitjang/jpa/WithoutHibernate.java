// SPDX-License-Identifier: Apache-2.0
package io.bitjang.jpa;

import io.bitjang.Wait;
import io.bitjang.jpa.shop.Account;
import jakarta.persistence.EntityManager;
import jakarta.persistence.EntityManagerFactory;

/** Runs in a JVM of its own that has no Hibernate. */
final class WithoutHibernate {

    private WithoutHibernate() {}

    public static void main(String[] arguments) {
        try (EntityManagerFactory factory = EclipseLinkTest.factory("jdbc:h2:mem:alone", "sa", "", Account.class);
                EntityManager em = factory.createEntityManager()) {
            em.getTransaction().begin();
            em.persist(new Account("alone", 1));
            em.flush();
            AggregateLocks aggregates = AggregateLocks.of(em);
            System.out.println("version " + aggregates.versionOf(aggregates.atVersion(Account.class, "alone", 1)));
            try {
                aggregates.lock(Account.class, "alone", Wait.none());
            } catch (UnsupportedOperationException e) {
                System.out.println(e.getMessage());
            }
            em.getTransaction().rollback();
        }
    }
}
