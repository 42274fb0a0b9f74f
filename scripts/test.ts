/**
 * `npm test`: sets up the test environment, runs all tests, and prints `N passed, N failed` last, which CI reads.
 * Arguments are passed to vitest.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { endWithNpm } from './npm-run.ts'

const root = join(import.meta.dirname, '..')
const directory = mkdtempSync(join(tmpdir(), 'test-'))
const report = join(directory, 'report.json')

endWithNpm()
const code =
  (await run(['scripts/setup-mariadb.ts'])) ||
  (await run([
    'node_modules/vitest/vitest.mjs',
    'run',
    // Tests often wait for servers, so there is one worker more than cores.
    `--maxWorkers=${availableParallelism() + 1}`,
    '--reporter=dot',
    '--reporter=json',
    `--outputFile.json=${report}`,
    ...process.argv.slice(2),
  ]))
const { passed, failed } = count(report, code)
rmSync(directory, { recursive: true })
console.log(`${passed} passed, ${failed} failed`)
process.exitCode = code || Math.min(failed, 1)

/** Returns the exit code. Signals to this process are forwarded to the child. */
async function run(args: readonly string[]): Promise<number> {
  const child = spawn(process.execPath, args, { cwd: root, stdio: 'inherit' })
  const pass = (signal: NodeJS.Signals) => child.kill(signal)
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, pass)
  const [code] = await once(child, 'exit')
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.off(signal, pass)
  return typeof code === 'number' ? code : 1
}

type Report = {
  readonly numPassedTests: number
  readonly numFailedTests: number
  readonly testResults: readonly { readonly status: string; readonly assertionResults: readonly unknown[] }[]
}

/** A file that failed to load counts as one failed test, and so does a failed run without a failed test. */
function count(file: string, exitCode: number): { readonly passed: number; readonly failed: number } {
  const { numPassedTests, numFailedTests, testResults } = read(file)
  const broken = testResults.filter(
    ({ status, assertionResults }) => status === 'failed' && assertionResults.length === 0,
  )
  return { passed: numPassedTests, failed: numFailedTests + broken.length || Math.min(exitCode, 1) }
}

function read(file: string): Report {
  try {
    return JSON.parse(readFileSync(file, 'utf8'))
  } catch {
    return { numPassedTests: 0, numFailedTests: 0, testResults: [] }
  }
}
