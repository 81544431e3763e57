// SPDX-License-Identifier: Apache-2.0
package io.bitjang.spring.web;

import io.bitjang.LockData;
import io.bitjang.admin.LockAdmin;
import io.bitjang.admin.LockFilter;
import java.security.Principal;
import java.util.List;
import java.util.Set;

/** How many edit locks a person holds, as the database has it, so that all nodes count together. Thread-safe. */
final class EditLockQuota {

    private static final int PAGE = 1000;

    private final LockAdmin admin;
    private final Set<String> types;
    private final int most;

    EditLockQuota(LockAdmin admin, EditLockSettings settings) {
        this.admin = admin;
        this.types = settings.types();
        this.most = settings.limits().locksPerPerson();
    }

    /** Whether one more would be too many. */
    boolean isUsedUp(Principal person) {
        return count(person, most) >= most;
    }

    /** Whether there are too many. */
    boolean isExceeded(Principal person) {
        return count(person, most + 1) > most;
    }

    EditLockProblem refused() {
        return EditLockProblem.tooManyLocks(most);
    }

    private int count(Principal person, int enough) {
        LockFilter own = LockFilter.held().ownedBy(person.getName());
        if (types.isEmpty()) {
            return count(own, enough);
        }
        int count = 0;
        for (String type : types) {
            count += count(own.ofType(type), enough - count);
            if (count >= enough) {
                break;
            }
        }
        return count;
    }

    private int count(LockFilter filter, int enough) {
        int count = 0;
        LockFilter next = filter;
        while (count < enough) {
            int limit = Math.min(PAGE, enough - count);
            List<LockData> page = admin.list(next.limit(limit));
            count += page.size();
            if (page.size() < limit) {
                break;
            }
            next = next.after(page.get(page.size() - 1).name());
        }
        return count;
    }
}
