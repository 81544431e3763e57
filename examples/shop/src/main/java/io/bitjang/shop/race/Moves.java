// SPDX-License-Identifier: Apache-2.0
package io.bitjang.shop.race;

import static io.bitjang.shop.race.Play.Tone.PLAIN;
import static io.bitjang.shop.race.Play.Tone.WAIT;

import io.bitjang.Wait;
import io.bitjang.shop.orders.AlreadyShippedException;
import io.bitjang.shop.orders.Order;
import io.bitjang.shop.orders.OrderNo;
import io.bitjang.shop.orders.OrderRepository;
import io.bitjang.shop.orders.OrderState;
import io.bitjang.shop.orders.Slowness;
import io.bitjang.shop.race.Play.Actor;
import jakarta.persistence.EntityManager;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Component;
import org.springframework.transaction.annotation.Transactional;

/**
 * What operator and customer do in each lane: one transaction each. The operator reads the order, takes a while over the parcel, and
 * says that it is on its way; the customer looks whether it is not, and changes it.
 */
@Component
class Moves {

    static final String SEOUL = "12 Sejong-daero, Seoul";
    static final String JEJU = "3 Chilseong-ro, Jeju";
    static final int QUANTITY = 2;
    static final int MORE = 5;

    private static final Duration PATIENCE = Duration.ofSeconds(15);
    private static final Duration MOMENT = Duration.ofMillis(250);

    private final JdbcClient jdbc;
    private final OrderRepository orders;
    private final EntityManager entities;
    private final Slowness slowness;

    Moves(JdbcClient jdbc, OrderRepository orders, EntityManager entities, Slowness slowness) {
        this.jdbc = jdbc;
        this.orders = orders;
        this.entities = entities;
        this.slowness = slowness;
    }

    /** Back to the beginning; answers the version. */
    @Transactional
    public long startOver(Lane lane) {
        jdbc.sql(
                        "UPDATE shop_order SET state = 'PREPARING', label = NULL, address = ?, version = version + 1 WHERE number = ?")
                .params(SEOUL, lane.number())
                .update();
        jdbc.sql("UPDATE shop_order_line SET quantity = ? WHERE order_number = ?")
                .params(QUANTITY, lane.number())
                .update();
        return version(lane);
    }

    long version(Lane lane) {
        return jdbc.sql("SELECT version FROM shop_order WHERE number = ?")
                .param(lane.number())
                .query(Long.class)
                .single();
    }

    @Transactional
    public void operator(Lane lane, Play play, Duration parcel) {
        switch (lane) {
            case UNPROTECTED -> {
                String address = text("address", lane);
                play.add(Actor.OPERATOR, PLAIN, "race.move.reads", address);
                pause(play, parcel);
                jdbc.sql("UPDATE shop_order SET state = 'SHIPPED', label = ? WHERE number = ?")
                        .params(address, lane.number())
                        .update();
            }
            case PESSIMISTIC -> {
                Order order = locked(lane, play, Actor.OPERATOR);
                play.add(
                        Actor.OPERATOR,
                        PLAIN,
                        "race.move.reads",
                        order.getShippingInfo().address());
                pause(play, parcel);
                order.startShipping("operator");
            }
            case OPTIMISTIC -> {
                Order order = read(lane);
                play.add(
                        Actor.OPERATOR,
                        PLAIN,
                        "race.move.reads-version",
                        order.getShippingInfo().address(),
                        order.getVersion());
                pause(play, parcel);
                order.startShipping("operator");
            }
            case PLAIN_LINE -> {
                PlainOrder order = plain(lane);
                play.packed(order.line().quantity());
                play.add(Actor.OPERATOR, PLAIN, "race.move.packs", order.line().quantity(), order.version());
                pause(play, parcel);
                order.ship(SEOUL);
            }
            case LINE -> {
                Order order = read(lane);
                int quantity = order.getLines().get(0).getQuantity();
                play.packed(quantity);
                play.add(Actor.OPERATOR, PLAIN, "race.move.packs", quantity, order.getVersion());
                pause(play, parcel);
                order.startShipping("operator");
            }
        }
    }

    @Transactional
    public void customer(Lane lane, Play play) {
        switch (lane) {
            case UNPROTECTED -> {
                String state = text("state", lane);
                play.add(Actor.CUSTOMER, PLAIN, "race.move.sees." + state);
                sleep(MOMENT);
                if (state.equals(OrderState.SHIPPED.name())) {
                    throw new Refusal();
                }
                jdbc.sql("UPDATE shop_order SET address = ? WHERE number = ?")
                        .params(JEJU, lane.number())
                        .update();
            }
            case PESSIMISTIC -> {
                Order order = locked(lane, play, Actor.CUSTOMER);
                play.add(Actor.CUSTOMER, PLAIN, "race.move.sees." + order.getState());
                change(order);
            }
            case OPTIMISTIC -> {
                Order order = read(lane);
                play.add(Actor.CUSTOMER, PLAIN, "race.move.sees." + order.getState());
                sleep(MOMENT);
                change(order);
            }
            case PLAIN_LINE -> {
                PlainOrder order = plain(lane);
                play.add(
                        Actor.CUSTOMER,
                        PLAIN,
                        order.isShipped() ? "race.move.sees.SHIPPED" : "race.move.sees.PREPARING");
                sleep(MOMENT);
                if (order.isShipped()) {
                    throw new Refusal();
                }
                order.line().quantity(MORE);
            }
            case LINE -> {
                Order order = read(lane);
                play.add(Actor.CUSTOMER, PLAIN, "race.move.sees." + order.getState());
                sleep(MOMENT);
                if (order.getState() == OrderState.SHIPPED) {
                    throw new Refusal();
                }
                order.getLines().get(0).changeQuantity(MORE);
            }
        }
    }

    /** What the order's own rules say no to. */
    static final class Refusal extends RuntimeException {
        private static final long serialVersionUID = 1L;
    }

    private static void change(Order order) {
        try {
            order.changeShippingInfo(order.getShippingInfo().to(JEJU), "customer");
        } catch (AlreadyShippedException e) {
            throw new Refusal();
        }
    }

    @Transactional(readOnly = true)
    public Play.Outcome outcome(Lane lane, Play play) {
        boolean shipped = text("state", lane).equals(OrderState.SHIPPED.name());
        String stored = lane.ofLines()
                ? jdbc.sql("SELECT quantity FROM shop_order_line WHERE order_number = ?")
                        .param(lane.number())
                        .query(String.class)
                        .single()
                : text("address", lane);
        String label = jdbc.sql("SELECT label FROM shop_order WHERE number = ?")
                .param(lane.number())
                .query(String.class)
                .optional()
                .orElse(null);
        String parcel = lane.ofLines() ? String.valueOf(play.packed()) : label;
        boolean damaged = shipped && !stored.equals(parcel);
        return new Play.Outcome(damaged, shipped, shipped ? parcel : null, stored, play.versionBefore(), version(lane));
    }

    private Order locked(Lane lane, Play play, Actor actor) {
        play.add(actor, WAIT, "race.move.asks");
        long asked = System.nanoTime();
        Order order = orders.lock(new OrderNo(lane.number()), Wait.upTo(PATIENCE));
        play.add(actor, WAIT, "race.move.waited", TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - asked));
        return order;
    }

    private Order read(Lane lane) {
        return orders.require(lane.number());
    }

    private PlainOrder plain(Lane lane) {
        return Objects.requireNonNull(entities.find(PlainOrder.class, lane.number()));
    }

    private String text(String column, Lane lane) {
        String sql = column.equals("state")
                ? "SELECT state FROM shop_order WHERE number = ?"
                : "SELECT address FROM shop_order WHERE number = ?";
        return jdbc.sql(sql).param(lane.number()).query(String.class).single();
    }

    private void pause(Play play, Duration duration) {
        play.add(Actor.OPERATOR, PLAIN, "race.move.label", duration.toMillis());
        slowness.pause(duration);
    }

    private static void sleep(Duration duration) {
        try {
            Thread.sleep(duration.toMillis());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("Interrupted", e);
        }
    }
}
