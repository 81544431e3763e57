// SPDX-License-Identifier: Apache-2.0
package io.bitjang.spring.data.archive;

import io.bitjang.spring.data.AggregateRepository;
import org.springframework.data.jpa.repository.JpaRepository;
import org.springframework.data.repository.NoRepositoryBean;

/** What an application wants all its repositories to have. */
@NoRepositoryBean
public interface BaseRepository<T, ID> extends JpaRepository<T, ID>, AggregateRepository<T, ID> {}
