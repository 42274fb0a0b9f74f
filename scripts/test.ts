/**
 * `npm test`: sets up the test environment and runs the quick tier of the tests; `npm run test:full` runs all of them
 * (docs/testing.md). The last line is `N passed, N failed`, which CI reads. Arguments are passed to vitest.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { endWithNpm } from './npm-run.ts'

const root = join(import.meta.dirname, '..')
/** Lines of workerd, and of the service's own log. */
const OF_SERVERS = /^(?:uncaught exception|exception = |stack: |\{"time":)/
const [first, ...rest] = process.argv.slice(2)
const isFull = first === '--full'
if (isFull) process.env.SERVICE_TEST_EFFORT = 'full'

endWithNpm()
process.exitCode =
  (await run(['scripts/setup-mariadb.ts'])) ||
  (await run([
    'node_modules/vitest/vitest.mjs',
    'run',
    // Tests often wait for servers, so there are two workers more than cores; with four more, each takes longer than is won.
    `--maxWorkers=${availableParallelism() + 2}`,
    '--reporter=./test/support/run/reporter.ts',
    ...(isFull || first === undefined ? rest : [first, ...rest]),
  ]))

/**
 * Returns the exit code. Signals to this process are forwarded to the child. What servers and Workers tell that tests break on
 * purpose is shown only where the run fails.
 */
async function run(args: readonly string[]): Promise<number> {
  const child = spawn(process.execPath, args, { cwd: root, stdio: ['inherit', 'pipe', 'pipe'] })
  const lines: string[] = []
  createInterface({ input: child.stderr }).on('line', (line) => lines.push(line))
  createInterface({ input: child.stdout }).on('line', (line) => {
    if (OF_SERVERS.test(line)) lines.push(line)
    else console.log(line)
  })
  const pass = (signal: NodeJS.Signals) => child.kill(signal)
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, pass)
  const [code] = await once(child, 'close')
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.off(signal, pass)
  if (code !== 0) for (const line of lines) console.error(line)
  return typeof code === 'number' ? code : 1
}
