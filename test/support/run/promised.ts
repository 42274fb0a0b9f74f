/**
 * The runner of the API's tests on the Worker in the quick tier: of the tests of a file it keeps those that docs/contract.md
 * names. What stands on that page is promised on both platforms; the other tests are tried on Node, and on both in full.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type RunnerTestSuite as Suite, type RunnerTask as Task, TestRunner } from 'vitest'

const page = readFileSync(join(import.meta.dirname, '../../../docs/contract.md'), 'utf8')

/**
 * Of a file: the places that give it, each with a part of a title, with none, which means all tests of the file, or with
 * another line of it, such as a case of a table, for which all are kept too.
 */
const promised = Map.groupBy(page.matchAll(/`(test\/[\w./-]+)`(?: “(.+?)”)?/g), ([, file = '']) => file)

export default class Promised extends TestRunner {
  onCollected(files: Suite[]): void {
    for (const file of files) {
      const titles = (promised.get(file.name) ?? []).map(([, , title]) => pattern(title ?? ''))
      if (titles.every((title) => isIn(file, title))) keep(file, titles)
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
