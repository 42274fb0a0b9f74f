/**
 * The runner of the API's tests on the Worker, and of those of the console, in the quick tier: of the tests of a file it keeps
 * those that docs/proofs.md names, and a story of each screen. What stands on that page is promised on both platforms; the other
 * tests of the API are tried on Node, and all of them in full.
 */
import { type RunnerTestSuite as Suite, type RunnerTask as Task, TestRunner } from 'vitest'
import { promised } from './only-in-full.ts'

const named = promised()

export default class Promised extends TestRunner {
  onCollected(files: Suite[]): void {
    for (const file of files) {
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
