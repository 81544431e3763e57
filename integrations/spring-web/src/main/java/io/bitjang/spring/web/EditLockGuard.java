// SPDX-License-Identifier: Apache-2.0
package io.bitjang.spring.web;

import io.bitjang.LockData;
import io.bitjang.LockId;
import io.bitjang.LockName;
import io.bitjang.spring.TransactionalLockManager;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.lang.reflect.Method;
import java.security.Principal;
import java.util.Arrays;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.support.AopUtils;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.http.HttpStatus;
import org.springframework.http.HttpStatusCode;
import org.springframework.http.ProblemDetail;
import org.springframework.http.ResponseEntity;
import org.springframework.transaction.CannotCreateTransactionException;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.TransactionStatus;
import org.springframework.transaction.support.DefaultTransactionDefinition;
import org.springframework.validation.Errors;
import org.springframework.web.ErrorResponse;
import org.springframework.web.context.request.RequestContextHolder;
import org.springframework.web.context.request.ServletRequestAttributes;
import org.springframework.web.servlet.ModelAndView;

/**
 * Around a handler with {@link RequiresEditLock}: decides, then runs it in one transaction that the lock guards, and releases the
 * lock with the commit. Everything it needs is looked up when it is first needed, because advisors are made before other beans.
 * Thread-safe.
 */
final class EditLockGuard implements MethodInterceptor {

    private final Map<Method, Guarded> guarded = new ConcurrentHashMap<>();
    private final ObjectProvider<TransactionalLockManager> manager;
    private final ObjectProvider<PlatformTransactionManager> transactions;
    private final ObjectProvider<EditLockPolicy> policy;
    private final ObjectProvider<EditLockSettings> settings;
    private final ObjectProvider<EditLockVersions> versions;
    private final EditLockSignal signal;
    private final BeanFactory beans;

    EditLockGuard(
            ObjectProvider<TransactionalLockManager> manager,
            ObjectProvider<PlatformTransactionManager> transactions,
            ObjectProvider<EditLockPolicy> policy,
            ObjectProvider<EditLockSettings> settings,
            ObjectProvider<EditLockVersions> versions,
            EditLockSignal signal,
            BeanFactory beans) {
        this.manager = manager;
        this.transactions = transactions;
        this.policy = policy;
        this.settings = settings;
        this.versions = versions;
        this.signal = signal;
        this.beans = beans;
    }

    /** Understands the handler; throws if it is wrong. */
    Guarded guarded(Method method, Class<?> target) {
        return guarded.computeIfAbsent(method, each -> Guarded.of(each, target));
    }

    @Override
    public @Nullable Object invoke(MethodInvocation call) throws Throwable {
        Object target = call.getThis();
        if (target == null
                || !(RequestContextHolder.getRequestAttributes() instanceof ServletRequestAttributes attributes)) {
            throw new IllegalStateException(
                    call.getMethod() + " has @RequiresEditLock and was called outside of a request");
        }
        Method method = AopUtils.getMostSpecificMethod(call.getMethod(), AopUtils.getTargetClass(target));
        Guarded handler = guarded(method, AopUtils.getTargetClass(target));
        HttpServletRequest request = attributes.getRequest();
        Principal person = Requests.person(request);
        Requests.requireSameOrigin(request);
        LockName name = handler.name(request, target, call.getArguments());
        if (!EditLockConfiguration.policy(policy, settings.getObject()).mayEdit(person, name)) {
            throw EditLockProblem.denied("You may not edit this.");
        }
        if (versions.getIfAvailable() != null) {
            current(name);
        }
        LockId lockId =
                Requests.lockId(Requests.token(request).orElseThrow(() -> EditLockProblem.required("lock id")), name);
        String version = version(request, handler).orElse(null);
        BoundEditLock lock = Arrays.stream(call.getArguments())
                .filter(BoundEditLock.class::isInstance)
                .map(BoundEditLock.class::cast)
                .findFirst()
                .orElseGet(BoundEditLock::new);
        lock.bind(lockId);
        Object result = inTransaction(call, handler, lock, person, version, attributes.getResponse());
        if (lock.kept()) {
            request.setAttribute(Requests.TOKEN_FIELD, lockId.value()); // for the form that is shown again
        } else {
            signal.run();
        }
        return result;
    }

    private Optional<String> version(HttpServletRequest request, Guarded handler) {
        Optional<String> sent = Requests.version(request);
        if (!handler.version()) {
            return versions.getIfAvailable() == null ? Optional.empty() : sent; // otherwise the handler's own business
        }
        return Optional.of(sent.or(() -> Requests.present(request.getParameter(Requests.VERSION_FIELD)))
                .orElseThrow(() -> EditLockProblem.required("version")));
    }

    private String current(LockName name) {
        return Etags.current(versions.getObject(), name);
    }

    private @Nullable Object inTransaction(
            MethodInvocation call,
            Guarded handler,
            BoundEditLock lock,
            Principal person,
            @Nullable String version,
            @Nullable HttpServletResponse response)
            throws Throwable {
        PlatformTransactionManager begin = transactions(handler);
        DefaultTransactionDefinition definition = new DefaultTransactionDefinition();
        definition.setName(call.getMethod().getName());
        TransactionStatus transaction = begun(begin, definition);
        Object result;
        try {
            require(handler, lock, person, version);
            result = call.proceed();
            if (handler.answersError() || isError(result) || isError(response)) {
                transaction.setRollbackOnly();
                lock.keep();
            } else if (hasErrors(call.getArguments())) {
                lock.keep(); // the form is shown again
            }
            if (!lock.kept()) {
                manager.getObject().releaseLock(lock.id());
            }
        } catch (Throwable failure) {
            rollback(begin, transaction, failure);
            throw failure;
        }
        begin.commit(transaction);
        return result;
    }

    /** Which of the application's; throws if that is not clear. */
    PlatformTransactionManager transactions(Guarded handler) {
        return handler.transactionManager().isEmpty()
                ? transactions.getObject()
                : beans.getBean(handler.transactionManager(), PlatformTransactionManager.class);
    }

    private static TransactionStatus begun(PlatformTransactionManager begin, TransactionDefinition definition) {
        try {
            return begin.getTransaction(definition);
        } catch (CannotCreateTransactionException e) {
            throw EditLockProblem.unavailable(e);
        }
    }

    /** Pins the lock first: what is decided after that holds until the commit. */
    private void require(Guarded handler, BoundEditLock lock, Principal person, @Nullable String version) {
        LockData held = manager.getObject().checkLock(lock.id());
        if (!person.getName().equals(held.owner())) {
            throw EditLockProblem.denied("This lock id was given to someone else.");
        }
        if (!held.held() && !handler.acceptLapsed()) {
            throw EditLockProblem.lapsed(lock.name(), null);
        }
        if (version != null && !Etags.match(version, current(lock.name()))) {
            throw EditLockProblem.staleVersion(null);
        }
    }

    private static void rollback(PlatformTransactionManager begin, TransactionStatus transaction, Throwable failure) {
        try {
            begin.rollback(transaction);
        } catch (RuntimeException e) {
            failure.addSuppressed(e);
        }
    }

    /** What the handler says no to is not saved, and the person goes on editing. */
    private static boolean isError(@Nullable Object result) {
        HttpStatusCode status = null;
        if (result instanceof ResponseEntity<?> entity) {
            status = entity.getStatusCode();
        } else if (result instanceof ErrorResponse error) {
            status = error.getStatusCode();
        } else if (result instanceof ProblemDetail problem) {
            status = HttpStatusCode.valueOf(problem.getStatus());
        } else if (result instanceof ModelAndView view) {
            status = view.getStatus();
        }
        return status != null && status.isError();
    }

    private static boolean isError(@Nullable HttpServletResponse response) {
        return response != null && response.getStatus() >= HttpStatus.BAD_REQUEST.value();
    }

    private static boolean hasErrors(@Nullable Object[] arguments) {
        return Arrays.stream(arguments).anyMatch(each -> each instanceof Errors errors && errors.hasErrors());
    }
}
