// SPDX-License-Identifier: Apache-2.0
package io.bitjang.spring.data;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.bitjang.jpa.VersionConflictException;
import io.bitjang.jpa.VersionToken;
import io.bitjang.spring.data.shop.Order;
import org.junit.jupiter.api.Test;
import org.springframework.core.NestedExceptionUtils;
import org.springframework.orm.ObjectOptimisticLockingFailureException;
import org.springframework.transaction.UnexpectedRollbackException;

/** The version of a form, and the version of an aggregate, by the methods of a repository. */
class RepositoryVersionTest extends OnSpringData {

    @Test
    void a_form_is_saved_at_the_version_that_it_was_shown_with() {
        long number = newOrder();
        VersionToken shown = shop.show(number);

        VersionToken next = shop.save(number, shown, "Busan");

        assertThat(city(number)).isEqualTo("Busan");
        assertThat(next).isEqualTo(VersionToken.of(version(number))).isNotEqualTo(shown);
        assertThat(shop.show(number)).isEqualTo(next);
        shop.save(number, next, "Jeju");
        assertThat(tx(() -> orders.atVersion(number, 2L)).city()).isEqualTo("Jeju");
    }

    @Test
    void an_old_form_is_refused_and_says_so_by_its_cause() {
        long number = newOrder();
        VersionToken shown = shop.show(number);
        shop.save(number, shown, "Busan");

        var conflict = catchThrowableOfType(
                ObjectOptimisticLockingFailureException.class, () -> shop.save(number, shown, "Jeju"));

        assertThat(conflict.getCause()).isInstanceOfSatisfying(VersionConflictException.class, cause -> {
            assertThat(cause.aggregateType()).isEqualTo(Order.class);
            assertThat(cause.aggregateId()).isEqualTo(number);
            assertThat(cause.given()).isEqualTo(shown);
            assertThat(cause.found()).isEqualTo(1L);
        });
        assertThat(city(number)).isEqualTo("Busan");
    }

    @Test
    void two_who_save_at_the_same_time_are_told_apart_from_an_old_form() {
        long number = newOrder();
        VersionToken shown = shop.show(number);

        Throwable conflict = catchThrowable(() -> inTx(() -> {
            Order order = orders.atVersion(number, shown);
            elsewhere(() -> shop.save(number, shown, "Busan"));
            order.moveTo("Jeju");
        }));

        assertThat(conflict).isInstanceOf(ObjectOptimisticLockingFailureException.class);
        assertThat(conflict.getCause()).isNotInstanceOf(VersionConflictException.class);
        assertThat(NestedExceptionUtils.getMostSpecificCause(conflict)).isNotInstanceOf(VersionConflictException.class);
        assertThat(city(number)).isEqualTo("Busan");
    }

    @Test
    void who_caught_the_conflict_can_not_commit_all_the_same() {
        long number = newOrder();
        assertThatThrownBy(() -> inTx(() -> {
                    orders.findById(number).orElseThrow().moveTo("Busan");
                    assertThatThrownBy(() -> orders.atVersion(number, 7L))
                            .isInstanceOf(ObjectOptimisticLockingFailureException.class);
                }))
                .isInstanceOf(UnexpectedRollbackException.class);
        assertThat(city(number)).isEqualTo("Seoul");
    }

    @Test
    void the_version_moves_by_one_whatever_changes_with_it() {
        long number = newOrder();
        inTx(() -> {
            Order order = orders.forceIncrement(number);
            assertThat(order.version()).isEqualTo(1);
            order.line().change(2);
            order.moveTo("Busan");
            assertThat(orders.versionOf(order)).isEqualTo(VersionToken.of(1L));
        });
        assertThat(version(number)).isEqualTo(1);

        inTx(() -> orders.findById(number).orElseThrow().line().change(3));
        assertThat(version(number)).isEqualTo(2);

        inTx(() -> orders.forceIncrement(number));
        assertThat(version(number)).isEqualTo(3);
        assertThat(quantity(number)).isEqualTo(3);
    }

    @Test
    void who_moves_a_version_that_another_has_moved_is_told() {
        long number = newOrder();
        assertThatThrownBy(() -> inTx(() -> {
                    orders.findById(number);
                    elsewhere(() -> tx(() -> orders.forceIncrement(number)));
                    orders.forceIncrement(number);
                }))
                .isInstanceOf(ObjectOptimisticLockingFailureException.class);
        assertThat(version(number)).isEqualTo(1);
    }

    /** As documented: use forceIncrement. */
    @Test
    void the_increment_of_jpa_itself_moves_it_once_more() {
        long number = newOrder();
        inTx(() -> orders.findByNumber(number));
        assertThat(version(number)).isEqualTo(1);

        inTx(() -> orders.findByNumber(number).orElseThrow().line().change(2));
        assertThat(version(number)).isEqualTo(3);
    }
}
