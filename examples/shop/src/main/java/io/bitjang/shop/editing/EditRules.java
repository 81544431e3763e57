// SPDX-License-Identifier: Apache-2.0
package io.bitjang.shop.editing;

import io.bitjang.LockData;
import io.bitjang.LockName;
import io.bitjang.shop.orders.Order;
import io.bitjang.shop.orders.OrderRepository;
import io.bitjang.spring.web.EditLockPolicy;
import io.bitjang.spring.web.EditLockVersions;
import java.security.Principal;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.security.core.Authentication;
import org.springframework.security.core.authority.AuthorityUtils;

/** Who may edit, who may take over, and which version an order has. */
@Configuration
class EditRules {

    /** Everybody edits orders. The operator may take over from anybody, others only from themselves. */
    @Bean
    EditLockPolicy editLockPolicy() {
        return new EditLockPolicy() {
            @Override
            public boolean mayEdit(Principal person, LockName name) {
                return name.type().equals("order");
            }

            @Override
            public boolean mayTakeOver(Principal person, LockData held) {
                return person.getName().equals(held.owner())
                        || (person instanceof Authentication user
                                && AuthorityUtils.authorityListToSet(user.getAuthorities())
                                        .contains("ROLE_OPERATOR"));
            }
        };
    }

    @Bean
    EditLockVersions editLockVersions(OrderRepository orders) {
        return name -> orders.find(name.id()).map(Order::getVersion).map(String::valueOf);
    }
}
