/** The matcher table against the pure function and against Deno, whose rules are the sandbox on Node. */
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import { isGranted, parseTarget } from '../../src/core/connector/permission.ts'
import { requireDeno } from '../../src/platform/node/connector-host.ts'
import { hostInUrl, type NetworkRow, networkRows } from './network-rows.ts'

const run = promisify(execFile)

describe('the matcher table', () => {
  it('has more than a hundred rows, and its targets are in normal form', () => {
    const targets = new Set(networkRows.map(({ target }) => target))

    expect(networkRows.length).toBeGreaterThan(100)
    for (const target of targets) expect(parseTarget(`net:${target}`)).toEqual({ target })
  })

  it.each(networkRows)('is what the pure function says: $target $host $port', (row) => {
    expect(isGranted([row.target], hostInUrl(row), row.port)).toBe(row.permitted)
  })

  it.each([...new Set(networkRows.map(({ target }) => target))])('is what Deno says: %s', async (target) => {
    const rows = networkRows.filter((row) => row.target === target)

    const states = await askDeno(target, rows)

    expect(rows.map((row, index) => [row.host, row.port, states[index] === 'granted'])).toEqual(
      rows.map(({ host, port, permitted }) => [host, port, permitted]),
    )
  })
})

/** What a process with this one target says to each row, in order; the check is the one that it makes before connecting. */
async function askDeno(target: string, rows: readonly NetworkRow[]): Promise<readonly string[]> {
  const hosts = rows.map((row) => `${hostInUrl(row)}:${row.port}`)
  const program = `console.log(JSON.stringify(${JSON.stringify(hosts)}.map((host) => Deno.permissions.querySync({ name: 'net', host }).state)))`
  const address = `data:text/javascript,${encodeURIComponent(program)}`
  const { stdout } = await run(requireDeno(), ['run', '--no-prompt', '--no-config', `--allow-net=${target}`, address], {
    env: { DENO_DIR: '/dev/null/none', DENO_NO_UPDATE_CHECK: '1', NO_COLOR: '1' },
  })
  return JSON.parse(stdout)
}
