// SPDX-License-Identifier: Apache-2.0
package io.bitjang.shop.web;

import java.time.Duration;
import java.util.List;
import java.util.Locale;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.web.servlet.LocaleResolver;
import org.springframework.web.servlet.config.annotation.InterceptorRegistry;
import org.springframework.web.servlet.config.annotation.WebMvcConfigurer;
import org.springframework.web.servlet.i18n.CookieLocaleResolver;
import org.springframework.web.servlet.i18n.LocaleChangeInterceptor;

/** English or Korean: what the browser prefers, until one says otherwise ({@code ?lang=ko}). */
@Configuration
class Language implements WebMvcConfigurer {

    private static final Duration REMEMBERED = Duration.ofDays(90);

    @Bean
    LocaleResolver localeResolver() {
        CookieLocaleResolver resolver = new CookieLocaleResolver("SHOP_LANGUAGE");
        resolver.setCookieMaxAge(REMEMBERED);
        resolver.setDefaultLocaleFunction(request -> known(request.getLocale()));
        resolver.setRejectInvalidCookies(false);
        return resolver;
    }

    static Locale known(Locale wanted) {
        return wanted.getLanguage().equals("ko") ? Locale.KOREAN : Locale.ENGLISH;
    }

    @Override
    public void addInterceptors(InterceptorRegistry registry) {
        LocaleChangeInterceptor change = new LocaleChangeInterceptor() {
            @Override
            protected Locale parseLocaleValue(String value) {
                return known(List.of("ko", "ko-KR").contains(value) ? Locale.KOREAN : Locale.ENGLISH);
            }
        };
        change.setParamName("lang");
        change.setIgnoreInvalidLocale(true);
        registry.addInterceptor(change);
    }
}
