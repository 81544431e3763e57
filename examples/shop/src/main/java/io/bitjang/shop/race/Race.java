// SPDX-License-Identifier: Apache-2.0
package io.bitjang.shop.race;

import io.bitjang.shop.orders.Order;
import io.bitjang.shop.orders.OrderNo;
import io.bitjang.shop.orders.OrderRepository;
import io.bitjang.shop.orders.Scene;
import io.bitjang.shop.orders.ShippingInfo;
import io.bitjang.shop.race.Play.Actor;
import io.bitjang.shop.race.Play.Tone;
import io.bitjang.shop.web.Live;
import jakarta.annotation.PreDestroy;
import java.time.Duration;
import java.util.EnumMap;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.dao.ConcurrencyFailureException;
import org.springframework.stereotype.Component;

/** Lets operator and customer meet, and remembers how it went. Thread-safe. */
@Component
class Race {

    private static final Logger LOG = LoggerFactory.getLogger(Race.class);
    private static final Duration SHORT = Duration.ofMillis(900);

    private final Moves moves;
    private final OrderRepository orders;
    private final Live live;
    private final Duration parcel;
    private final ReentrantLock lock = new ReentrantLock();
    private final Map<Lane, Play> plays = new EnumMap<>(Lane.class);
    private long played;
    private final ExecutorService threads = Executors.newCachedThreadPool(work -> {
        Thread made = new Thread(work, "race");
        made.setDaemon(true);
        return made;
    });

    Race(Moves moves, OrderRepository orders, Live live, @Value("${shop.parcel:6s}") Duration parcel) {
        this.moves = moves;
        this.orders = orders;
        this.live = live;
        this.parcel = parcel;
    }

    @PreDestroy
    void close() {
        threads.shutdownNow();
    }

    @Nullable
    Play play(Lane lane) {
        lock.lock();
        try {
            return plays.get(lane);
        } finally {
            lock.unlock();
        }
    }

    /** One of the two moves, by hand: there is time for the other. False if that one is at it already. */
    boolean act(Lane lane, Actor actor) {
        return begin(lane, actor, parcel);
    }

    /** Both move, the customer a moment after the operator. */
    boolean both(Lane lane) {
        if (!begin(lane, Actor.OPERATOR, SHORT)) {
            return false;
        }
        threads.execute(() -> {
            sleepUntilRead(lane);
            begin(lane, Actor.CUSTOMER, SHORT);
        });
        return true;
    }

    /** The operator has read the order: only now is there something to race with. */
    private void sleepUntilRead(Lane lane) {
        Play play = play(lane);
        for (int i = 0; play != null && i < 500 && play.isRunning() && !hasRead(play); i++) {
            try {
                Thread.sleep(10);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                return;
            }
        }
    }

    private static boolean hasRead(Play play) {
        return play.moves().stream().anyMatch(move -> move.key().equals("race.move.label"));
    }

    private boolean begin(Lane lane, Actor actor, Duration duration) {
        Play play;
        lock.lock();
        try {
            play = plays.get(lane);
            if (play == null || !play.join(actor)) {
                if (play != null && play.isRunning()) {
                    return false;
                }
                prepare(lane);
                play = new Play(++played, moves.startOver(lane), () -> live.changed("race"));
                play.join(actor);
                plays.put(lane, play);
            }
        } finally {
            lock.unlock();
        }
        Play joined = play;
        threads.execute(() -> run(lane, joined, actor, duration));
        return true;
    }

    private void prepare(Lane lane) {
        OrderNo number = new OrderNo(lane.number());
        if (!orders.existsById(number)) {
            orders.save(new Order(number, Scene.RACE, "customer", new ShippingInfo("Kim Minji", Moves.SEOUL, ""))
                    .with("Tea bowl", Moves.QUANTITY));
        }
    }

    private void run(Lane lane, Play play, Actor actor, Duration duration) {
        live.changed("race"); // what was played before is gone, even if the first move takes long
        try {
            if (actor == Actor.OPERATOR) {
                moves.operator(lane, play, duration);
                play.add(actor, Tone.DONE, "race.move.shipped");
            } else {
                moves.customer(lane, play);
                if (lane.ofLines()) {
                    play.add(actor, Tone.DONE, "race.move.more", Moves.MORE, moves.version(lane));
                } else {
                    play.add(actor, Tone.DONE, "race.move.moved", Moves.JEJU);
                }
            }
        } catch (Moves.Refusal e) {
            play.add(actor, Tone.REFUSED, "race.move.too-late");
        } catch (ConcurrencyFailureException e) {
            play.add(actor, Tone.REFUSED, "race.move.conflict", e.getClass().getSimpleName());
        } catch (RuntimeException e) {
            if (!threads.isShutdown()) {
                LOG.warn("A move failed", e);
            }
            play.add(actor, Tone.REFUSED, "race.move.failed", String.valueOf(e.getMessage()));
        } finally {
            if (play.ended()) {
                end(lane, play, actor);
            }
        }
    }

    private void end(Lane lane, Play play, Actor actor) {
        try {
            play.outcome(moves.outcome(lane, play));
        } catch (RuntimeException e) {
            play.add(actor, Tone.REFUSED, "race.move.failed", String.valueOf(e.getMessage()));
        }
    }
}
