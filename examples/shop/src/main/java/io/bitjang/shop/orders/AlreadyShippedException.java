// SPDX-License-Identifier: Apache-2.0
package io.bitjang.shop.orders;

import org.springframework.http.HttpStatus;
import org.springframework.web.bind.annotation.ResponseStatus;

/** The order is on its way: it can't be changed any more. */
@ResponseStatus(HttpStatus.UNPROCESSABLE_CONTENT)
public class AlreadyShippedException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    AlreadyShippedException(OrderNo number) {
        super("Order " + number + " is on its way already");
    }
}
