/**
 * `npm test`: sets up what the tests need, runs all of them, and ends with the line `N passed, N failed` that CI reads.
 * Arguments are handed to vitest.
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
    // Tests wait for servers now and then, so that there is one more than can work at a time.
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

/** The exit code. A signal that ends this process ends what it runs first. */
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

/** A file that could not be loaded counts as one failed test, and so does a run that failed for no test's fault. */
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
