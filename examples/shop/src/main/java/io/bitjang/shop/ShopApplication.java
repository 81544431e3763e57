// SPDX-License-Identifier: Apache-2.0
package io.bitjang.shop;

import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.boot.context.properties.ConfigurationPropertiesScan;

/** What Spring Boot makes of the packages below. */
@SpringBootApplication
@ConfigurationPropertiesScan
public class ShopApplication {}
