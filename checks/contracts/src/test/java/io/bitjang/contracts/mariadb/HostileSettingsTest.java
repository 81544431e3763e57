// SPDX-License-Identifier: Apache-2.0
package io.bitjang.contracts.mariadb;

import io.bitjang.testkit.OnDatabase;
import io.bitjang.testkit.contract.HostileSettingsContract;

@OnDatabase("mariadb")
class HostileSettingsTest extends HostileSettingsContract {}
