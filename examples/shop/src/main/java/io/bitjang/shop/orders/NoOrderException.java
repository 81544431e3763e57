// SPDX-License-Identifier: Apache-2.0
package io.bitjang.shop.orders;

import org.springframework.http.HttpStatus;
import org.springframework.web.bind.annotation.ResponseStatus;

/** There is no order with this number. */
@ResponseStatus(HttpStatus.NOT_FOUND)
public class NoOrderException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    NoOrderException(String number) {
        super("There is no order " + number);
    }
}
