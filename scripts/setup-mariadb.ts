/**
 * Provides MariaDB for the tests: does nothing if it is installed, runs `apt-get install` as root on Debian or Ubuntu,
 * and otherwise fails with instructions. The tests start their own servers, so the package's service is kept from
 * starting.
 */
import { spawnSync } from 'node:child_process'
import { rmSync, writeFileSync } from 'node:fs'
import { findMariadbd, missingMariadb } from '../test/support/servers/mariadb.ts'

const found = findMariadbd()
if (found !== undefined) console.log(`MariaDB for the tests: ${found}`)
else if (process.env.SERVICE_TEST_MARIADBD === undefined && process.getuid?.() === 0 && run('apt-get', ['--version']))
  install()
else fail()

function install(): void {
  console.log('MariaDB for the tests: installing it by apt-get install mariadb-server')
  withoutServices(
    () => run('apt-get', ['update']) && run('apt-get', ['install', '-y', '--no-install-recommends', 'mariadb-server']),
  )
  if (findMariadbd() === undefined) fail()
}

function fail(): void {
  console.error(missingMariadb)
  process.exitCode = 1
}

/** Debian runs this program before it starts a service; an existing one is kept. */
function withoutServices(work: () => void): void {
  const policy = '/usr/sbin/policy-rc.d'
  const isOurs = writeNew(policy)
  try {
    work()
  } finally {
    if (isOurs) rmSync(policy)
  }
}

function writeNew(path: string): boolean {
  try {
    writeFileSync(path, '#!/bin/sh\nexit 101\n', { mode: 0o755, flag: 'wx' })
    return true
  } catch {
    return false
  }
}

/** What it prints is shown where it fails. */
function run(command: string, args: readonly string[]): boolean {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
  const { status, stdout, stderr } = spawnSync(command, args, { env, encoding: 'utf8' })
  if (status !== 0) console.error(stdout, stderr)
  return status === 0
}
