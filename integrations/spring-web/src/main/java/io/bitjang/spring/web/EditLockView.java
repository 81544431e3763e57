// SPDX-License-Identifier: Apache-2.0
package io.bitjang.spring.web;

import io.bitjang.LockData;
import io.bitjang.LockName;
import io.bitjang.admin.LockAdmin;
import io.bitjang.admin.LockFilter;
import java.util.List;
import java.util.NavigableMap;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * The locks of one type that are held, as far as a node has looked: all, or those up to a name and some single ones.
 *
 * @param held those it saw
 * @param all whether it looked at the whole type, from its beginning
 * @param last if that ended early: the last name it looked at
 * @param singles names it looked at in any case
 */
record EditLockView(
        NavigableMap<LockName, Seen> held,
        boolean all,
        @Nullable LockName last,
        Set<LockName> singles) {

    /** A holder. */
    record Seen(long fence, @Nullable String owner) {

        static Seen of(LockData data) {
            return new Seen(data.fence(), data.owner());
        }
    }

    private static final int PAGE = 1000;

    /** Only these. */
    static EditLockView of(LockAdmin admin, Set<LockName> singles) {
        EditLockView view = new EditLockView(new TreeMap<>(), false, null, singles);
        singles.forEach(name -> view.look(admin, name));
        return view;
    }

    /** The whole type, but not more than so many locks; and these in any case. */
    static EditLockView of(LockAdmin admin, String type, int most, Set<LockName> singles) {
        NavigableMap<LockName, Seen> held = new TreeMap<>();
        LockFilter next = LockFilter.held().ofType(type);
        while (held.size() < most) {
            int limit = Math.min(PAGE, most - held.size());
            List<LockData> page = admin.list(next.limit(limit));
            page.forEach(data -> held.put(data.name(), Seen.of(data)));
            if (page.size() < limit) {
                return new EditLockView(held, true, null, singles);
            }
            next = next.after(page.get(page.size() - 1).name());
        }
        EditLockView view = new EditLockView(held, true, held.lastKey(), singles);
        singles.stream().filter(name -> !held.containsKey(name)).forEach(name -> view.look(admin, name));
        return view;
    }

    private void look(LockAdmin admin, LockName name) {
        admin.find(name).filter(LockData::held).ifPresent(data -> held.put(name, Seen.of(data)));
    }

    /** Whether it knows if this lock is held. */
    boolean covers(LockName name) {
        return singles.contains(name) || (all && (last == null || name.compareTo(last) <= 0));
    }

    /** Whether there may be more than it looked at. */
    boolean isCut() {
        return last != null;
    }
}
