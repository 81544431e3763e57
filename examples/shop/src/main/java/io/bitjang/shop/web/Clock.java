// SPDX-License-Identifier: Apache-2.0
package io.bitjang.shop.web;

import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.ZoneId;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.util.Locale;
import org.jspecify.annotations.Nullable;
import org.springframework.stereotype.Component;

/** Times as the pages show them: of this machine, to the second. Thread-safe. */
@Component("clock")
public class Clock {

    private static final DateTimeFormatter TIME = DateTimeFormatter.ofPattern("HH:mm:ss", Locale.ROOT);
    private static final DateTimeFormatter DAY = DateTimeFormatter.ofPattern("uuuu-MM-dd HH:mm", Locale.ROOT);

    /** The time of day; with the date if that was not today. */
    public String time(@Nullable Instant at) {
        if (at == null) {
            return "–";
        }
        ZonedDateTime here = at.atZone(ZoneId.systemDefault());
        return here.toLocalDate().equals(LocalDate.now(here.getZone())) ? TIME.format(here) : DAY.format(here);
    }

    /** The time of day. */
    public String millis(long at) {
        return time(Instant.ofEpochMilli(at));
    }

    /** What is left, in seconds. */
    public String seconds(@Nullable Duration left) {
        if (left == null) {
            return "–";
        }
        long seconds = left.toSeconds();
        return seconds >= 100 ? seconds / 60 + " min" : seconds + " s";
    }
}
