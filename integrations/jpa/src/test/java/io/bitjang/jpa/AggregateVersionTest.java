// SPDX-License-Identifier: Apache-2.0
package io.bitjang.jpa;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.bitjang.jpa.internal.AggregateIntegrator;
import io.bitjang.jpa.shop.Account;
import io.bitjang.jpa.shop.Address;
import io.bitjang.jpa.shop.ExpressParcel;
import io.bitjang.jpa.shop.LineNote;
import io.bitjang.jpa.shop.Order;
import io.bitjang.jpa.shop.OrderLine;
import io.bitjang.jpa.shop.Parcel;
import jakarta.persistence.EntityManager;
import jakarta.persistence.EntityManagerFactory;
import jakarta.persistence.LockModeType;
import jakarta.persistence.OptimisticLockException;
import jakarta.persistence.RollbackException;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.BiConsumer;
import org.junit.jupiter.api.Test;

/** By how much the version of the root moves, with plain JPA and with Bitjang. */
class AggregateVersionTest extends OnJpa {

    /** A change in one transaction, and how far plain JPA moves the version for it. */
    private record Change(int plain, BiConsumer<EntityManager, Order> code) {}

    private static Map<String, Change> changes() {
        Map<String, Change> changes = new LinkedHashMap<>();
        changes.put("an own field", new Change(1, (em, order) -> order.moveTo(new Address("Busan", "2"))));
        changes.put(
                "a field of a value",
                new Change(1, (em, order) -> order.address().rename("Busan")));
        changes.put(
                "an element collection",
                new Change(1, (em, order) -> order.labels().add("gift")));
        changes.put("a new part", new Change(0, (em, order) -> order.addLine(order.number() + 3, "salt", 1)));
        changes.put(
                "a removed part",
                new Change(0, (em, order) -> order.removeLine(order.lines().get(1))));
        changes.put(
                "a field of a part",
                new Change(0, (em, order) -> order.lines().get(0).change(7)));
        changes.put("a field of a part that was read alone", new Change(0, (em, order) -> {
            em.clear();
            em.find(OrderLine.class, order.number() + 1).change(7);
        }));
        changes.put(
                "an element collection of a part",
                new Change(0, (em, order) -> order.lines().get(0).wishes().add("cold")));
        changes.put(
                "a new part of a part",
                new Change(0, (em, order) -> order.lines().get(0).addNote(order.number() + 12, "black")));
        changes.put(
                "a field of a part of a part",
                new Change(0, (em, order) -> order.lines().get(0).notes().get(0).change("black")));
        changes.put("a field of a part of a part that was read alone", new Change(0, (em, order) -> {
            em.clear();
            em.find(LineNote.class, order.number() + 11).change("black");
        }));
        changes.put(
                "a removed part of a part",
                new Change(0, (em, order) -> order.lines().get(0).notes().clear()));
        changes.put("an own field and parts", new Change(1, (em, order) -> {
            order.moveTo(new Address("Busan", "2"));
            order.lines().get(0).change(7);
            order.lines().get(1).change(8);
            order.addLine(order.number() + 3, "salt", 1);
        }));
        changes.put("own fields, written twice", new Change(2, (em, order) -> {
            order.moveTo(new Address("Busan", "2"));
            em.flush();
            order.moveTo(new Address("Daegu", "3"));
        }));
        changes.put("a part, written, then an own field", new Change(1, (em, order) -> {
            order.lines().get(0).change(7);
            em.flush();
            order.moveTo(new Address("Daegu", "3"));
        }));
        changes.put("an own field, then a question about something else", new Change(1, (em, order) -> {
            order.moveTo(new Address("Busan", "2"));
            em.createQuery("from Account", Account.class).getResultList();
        }));
        changes.put("an own field and a part, then a question about something else", new Change(1, (em, order) -> {
            order.moveTo(new Address("Busan", "2"));
            order.lines().get(0).change(7);
            em.createQuery("from Account", Account.class).getResultList();
        }));
        changes.put("an own field, then a question about it, then a part", new Change(1, (em, order) -> {
            order.moveTo(new Address("Busan", "2"));
            em.createQuery("from Order where state is null", Order.class).getResultList();
            order.lines().get(0).change(7);
        }));
        changes.put("a new part that refers to a detached root", new Change(0, (em, order) -> {
            order.lines().size();
            em.detach(order);
            em.persist(order.addLine(order.number() + 3, "salt", 1));
        }));
        changes.put("a part of a root that is only read", new Change(0, (em, order) -> {
            OrderLine line = order.lines().get(0);
            em.unwrap(org.hibernate.Session.class).setReadOnly(order, true);
            line.change(7);
        }));
        changes.put("a merge of a changed part", new Change(0, (em, order) -> {
            OrderLine line = order.lines().get(0);
            em.clear();
            line.change(7);
            em.merge(line);
        }));
        changes.put("nothing", new Change(0, (em, order) -> order.lines().get(0).quantity()));
        changes.put(
                "the same value again",
                new Change(
                        0,
                        (em, order) ->
                                order.lines().get(0).change(order.lines().get(0).quantity())));
        changes.put("a merge of the same", new Change(0, (em, order) -> {
            order.lines().size();
            em.clear();
            em.merge(order.lines().get(1));
        }));
        return changes;
    }

    private long moved(EntityManagerFactory by, BiConsumer<EntityManager, Order> code) {
        long number = newOrder();
        long before = version(number);
        tx(by, em -> {
            code.accept(em, em.find(Order.class, number));
            return true;
        });
        return version(number) - before;
    }

    private long version(long number) {
        return tx(em -> em.find(Order.class, number).version());
    }

    private static boolean changesNothing(String what) {
        return what.equals("nothing") || what.equals("the same value again") || what.equals("a merge of the same");
    }

    @Test
    void any_change_of_an_aggregate_moves_its_version_by_one() {
        changes()
                .forEach((what, change) ->
                        assertThat(moved(factory, change.code())).as(what).isEqualTo(changesNothing(what) ? 0 : 1));
    }

    @Test
    void statements_that_are_sent_in_batches_make_no_difference() {
        Map<String, Object> batches = Map.of(
                "hibernate.jdbc.batch_size", 20, "hibernate.order_inserts", true, "hibernate.order_updates", true);
        try (EntityManagerFactory batching = factory(pool, batches)) {
            changes()
                    .forEach((what, change) -> assertThat(moved(batching, change.code()))
                            .as(what)
                            .isEqualTo(changesNothing(what) ? 0 : 1));
        }
    }

    @Test
    void plain_jpa_does_not() {
        try (EntityManagerFactory plain = factory(pool, Map.of(AggregateIntegrator.SWITCH, "false"))) {
            changes()
                    .forEach((what, change) ->
                            assertThat(moved(plain, change.code())).as(what).isEqualTo(change.plain()));
            assertThat(moved(plain, (em, order) -> {
                        em.lock(order, LockModeType.OPTIMISTIC_FORCE_INCREMENT);
                        order.lines().get(0).change(7);
                    }))
                    .as("a part, forced")
                    .isEqualTo(1);
            assertThat(moved(plain, (em, order) -> {
                        em.lock(order, LockModeType.OPTIMISTIC_FORCE_INCREMENT);
                        order.moveTo(new Address("Busan", "2"));
                    }))
                    .as("an own field, forced")
                    .isEqualTo(2);
        }
    }

    @Test
    void a_forced_move_counts_once_whatever_else_changes() {
        Map<String, BiConsumer<EntityManager, Order>> changes = new LinkedHashMap<>();
        changes.put("nothing", (em, order) -> {});
        changes().forEach((what, change) -> changes.put(what, change.code()));
        changes.forEach((what, code) -> {
            assertThat(moved(factory, (em, order) -> {
                        AggregateLocks.of(em).forceIncrement(Order.class, order.number());
                        code.accept(em, order);
                    }))
                    .as("forced, then " + what)
                    .isEqualTo(1);
            assertThat(moved(factory, (em, order) -> {
                        code.accept(em, order);
                        AggregateLocks.of(em).forceIncrement(Order.class, order.number());
                        AggregateLocks.of(em).forceIncrement(Order.class, order.number());
                    }))
                    .as(what + ", then forced twice")
                    .isEqualTo(1);
        });
    }

    @Test
    void the_version_that_a_transaction_shows_is_the_one_that_it_commits() {
        changes().forEach((what, change) -> {
            long number = newOrder();
            VersionToken shown = tx(em -> {
                Order order = em.find(Order.class, number);
                change.code().accept(em, order);
                return AggregateLocks.of(em).versionOf(em.find(Order.class, number));
            });
            assertThat(shown).as(what).isEqualTo(VersionToken.of(version(number)));
        });
    }

    @Test
    void a_new_aggregate_begins_with_its_first_version() {
        long number = number();
        inTx(em -> {
            Order order = new Order(number);
            em.persist(order);
            em.flush();
            order.addLine(number + 1, "tea", 1);
            em.flush();
            order.moveTo(new Address("Busan", "2"));
        });

        assertThat(version(number)).isZero();
    }

    @Test
    void a_part_that_changes_its_root_moves_both() {
        long one = newOrder();
        long other = newOrder();

        inTx(em -> em.find(OrderLine.class, one + 1).moveTo(em.getReference(Order.class, other)));

        assertThat(version(one)).isEqualTo(1);
        assertThat(version(other)).isEqualTo(1);
    }

    @Test
    void an_aggregate_is_deleted_with_its_parts() {
        long number = newOrder();

        inTx(em -> em.remove(em.find(Order.class, number)));

        inTx(em -> {
            assertThat(em.find(Order.class, number)).isNull();
            assertThat(em.find(OrderLine.class, number + 1)).isNull();
        });
    }

    @Test
    void two_who_change_different_parts_meet() {
        long number = newOrder();
        EntityManager first = factory.createEntityManager();
        first.getTransaction().begin();
        first.find(Order.class, number).lines().get(0).change(7);

        inTx(em -> em.find(Order.class, number).lines().get(1).change(8));

        assertThatThrownBy(first.getTransaction()::commit)
                .isInstanceOf(RollbackException.class)
                .hasCauseInstanceOf(OptimisticLockException.class);
        first.close();
        inTx(em -> {
            assertThat(em.find(OrderLine.class, number + 1).quantity()).isEqualTo(1);
            assertThat(em.find(OrderLine.class, number + 2).quantity()).isEqualTo(8);
        });
    }

    @Test
    void a_transaction_that_was_rolled_back_moves_nothing_and_the_next_one_moves_again() {
        long number = newOrder();
        EntityManager em = factory.createEntityManager();
        em.getTransaction().begin();
        em.find(Order.class, number).lines().get(0).change(7);
        em.flush();
        em.getTransaction().rollback();
        assertThat(version(number)).isZero();

        for (int i = 1; i <= 2; i++) {
            em.getTransaction().begin();
            em.find(Order.class, number).lines().get(0).change(10 + i);
            em.getTransaction().commit();
            assertThat(version(number)).isEqualTo(i);
        }
        em.close();
    }

    @Test
    void the_version_of_a_kind_of_aggregate_moves_too() {
        long id = tx(em -> {
            ExpressParcel parcel = new ExpressParcel();
            em.persist(parcel);
            return parcel.id();
        });

        inTx(em -> AggregateLocks.of(em).forceIncrement(ExpressParcel.class, id).take("park"));

        inTx(em -> assertThat(em.find(Parcel.class, id).version()).isEqualTo((short) 1));
    }

    @Test
    void a_stateless_session_is_left_alone() {
        long number = number();
        try (org.hibernate.StatelessSession session =
                factory.unwrap(org.hibernate.SessionFactory.class).openStatelessSession()) {
            session.beginTransaction();
            Order order = new Order(number);
            order.labels().add("new");
            session.insert(order);
            session.getTransaction().commit();
        }

        assertThat(version(number)).isZero();
    }

    /** As documented: neither has seen the order, so neither has an old version of it, but in a snapshot. */
    @Test
    void what_two_do_to_a_part_that_they_read_alone_is_not_compared_at_read_committed() {
        long number = newOrder();
        EntityManager first = factory.createEntityManager();
        first.getTransaction().begin();
        OrderLine seen = first.find(OrderLine.class, number + 1);
        assertThat(seen.quantity()).isEqualTo(1);

        inTx(em -> em.find(OrderLine.class, number + 1).change(5));
        seen.change(7);
        boolean compared = name.equals("mysql") || name.equals("mariadb");
        if (compared) {
            assertThatThrownBy(first.getTransaction()::commit).hasCauseInstanceOf(OptimisticLockException.class);
        } else {
            first.getTransaction().commit();
        }
        first.close();

        assertThat(version(number)).isEqualTo(compared ? 1 : 2);
        inTx(em -> assertThat(em.find(OrderLine.class, number + 1).quantity()).isEqualTo(compared ? 5 : 7));
    }

    /** As documented. */
    @Test
    void the_lock_modes_of_jpa_move_it_once_more() {
        for (LockModeType mode :
                new LockModeType[] {LockModeType.OPTIMISTIC_FORCE_INCREMENT, LockModeType.PESSIMISTIC_FORCE_INCREMENT
                }) {
            assertThat(moved(factory, (em, order) -> {
                        em.lock(order, mode);
                        order.moveTo(new Address("Busan", "2"));
                    }))
                    .as(mode.name())
                    .isEqualTo(2);
        }
    }

    /** As documented: the row of the order is written after the line, and with the version from before. */
    @Test
    void a_field_that_moves_no_version_may_fail_together_with_a_part() {
        long number = newOrder();
        assertThat(moved(factory, (em, order) -> {
                    order.remark("urgent");
                    order.lines().get(0).change(7);
                }))
                .isEqualTo(1);
        assertThatThrownBy(() -> inTx(em -> {
                    em.find(OrderLine.class, number + 1).change(7);
                    em.find(Order.class, number).remark("urgent");
                }))
                .hasCauseInstanceOf(OptimisticLockException.class);

        inTx(em -> em.find(Order.class, number).remark("urgent"));
        assertThat(version(number)).isZero();
    }
}
