// SPDX-License-Identifier: Apache-2.0
package io.bitjang.shop.web;

import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.dao.DataAccessResourceFailureException;
import org.springframework.dao.RecoverableDataAccessException;
import org.springframework.dao.TransientDataAccessResourceException;
import org.springframework.dao.UncategorizedDataAccessException;
import org.springframework.http.HttpStatus;
import org.springframework.transaction.TransactionException;
import org.springframework.web.bind.annotation.ControllerAdvice;
import org.springframework.web.bind.annotation.ExceptionHandler;

/**
 * A database that is away is not a fault of the shop's: its page says that one may try again. A connection that breaks in the middle
 * shows as a rollback that failed.
 */
@ControllerAdvice
class Unavailable {

    private static final Logger LOG = LoggerFactory.getLogger(Unavailable.class);

    @ExceptionHandler({
        TransactionException.class,
        DataAccessResourceFailureException.class,
        TransientDataAccessResourceException.class,
        RecoverableDataAccessException.class,
        UncategorizedDataAccessException.class
    })
    void away(RuntimeException failure, HttpServletResponse response) throws IOException {
        LOG.warn("Answered by 503", failure);
        response.sendError(HttpStatus.SERVICE_UNAVAILABLE.value());
    }
}
