/**
 * The runner of the quick tier where it tries a part of a file: on the Worker, of the console, and of files that take long, the tests
 * that docs/contract.md and docs/proofs.md name, and the stories; of others all tests. On the Worker one test of each row is
 * enough: what the other tests of a row prove is the same code on both platforms. All tests are tried in full.
 */
import { type RunnerTestSuite as Suite, type RunnerTask as Task, TestRunner } from 'vitest'
import { isNarrowed, promised } from './only-in-full.ts'

export default class Promised extends TestRunner {
  onCollected(files: Suite[]): void {
    const project = this.config.name ?? ''
    const named = promised(project)
    for (const file of files) {
      if (!isNarrowed(project, file.name)) continue
      const titles = named.get(file.name)?.map(({ title = '' }) => pattern(title))
      // Where the page names another line than a title, or none, all are kept.
      if (titles?.every((title) => isIn(file, title))) keep(file, titles)
    }
  }
}

function isIn(suite: Suite, title: RegExp): boolean {
  return suite.tasks.some((task) => title.test(task.name) || (task.type === 'suite' && isIn(task, title)))
}

/** Takes out of a suite what neither has one of these titles nor holds such a test. */
function keep(suite: Suite, titles: readonly RegExp[]): void {
  suite.tasks = suite.tasks.filter((task: Task) => {
    if (titles.some((title) => title.test(task.name))) return true
    if (task.type !== 'suite') return false
    keep(task, titles)
    return task.tasks.length > 0
  })
}

/** A part of a title as it stands in the source: `%s`, `$name` and `${name}` are whatever a case puts there. */
function pattern(title: string): RegExp {
  const parts = title.replaceAll('\\|', '|').split(/%[a-z]|\$\{[^}]+\}|\$\w+/)
  return new RegExp(parts.map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')).join('.*'), 's')
}
