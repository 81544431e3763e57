// SPDX-License-Identifier: Apache-2.0
package io.bitjang.shop.orders;

import io.bitjang.spring.data.AggregateRepository;
import java.util.List;
import java.util.Optional;
import org.springframework.data.jpa.repository.JpaRepository;
import org.springframework.data.jpa.repository.Query;

/** The orders: with {@code lock}, {@code atVersion} and the like, by naming one more interface. */
public interface OrderRepository extends JpaRepository<Order, OrderNo>, AggregateRepository<Order, OrderNo> {

    /** Those of one page. */
    @Query("SELECT o FROM Order o WHERE o.scene = :scene ORDER BY o.number.number")
    List<Order> ofScene(String scene);

    /** The order with this number; empty also if that is no number at all, whatever the database takes for equal. */
    default Optional<Order> find(String number) {
        return number.matches("[0-9]{1,20}") ? findById(new OrderNo(number)) : Optional.empty();
    }

    /** The order with this number, whatever page it belongs to; a page that says so if there is none. */
    default Order require(String number) {
        return find(number).orElseThrow(() -> new NoOrderException(number));
    }

    /** The same, for one page: an order that is edited under a lock there can't be changed without it here. */
    default Order require(String number, Scene scene) {
        return find(number).filter(order -> order.isOf(scene)).orElseThrow(() -> new NoOrderException(number));
    }
}
