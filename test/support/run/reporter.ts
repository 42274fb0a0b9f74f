/**
 * What a run of the tests prints, for somebody who reads it as a log: a line of progress for each tenth of the files, each
 * failure where it happens and all of them once more at the end, the slowest files, the time of each room, and
 * `N passed, N failed` last, which CI reads. What tests print themselves is shown for those that failed.
 */
import { relative } from 'node:path'
import { stripVTControlCharacters } from 'node:util'
import type { UserConsoleLog } from 'vitest'
import type { Reporter, SerializedError, TestCase, TestModule, TestSpecification } from 'vitest/node'

type Failure = { readonly title: string; readonly message: string; readonly place: string }

/** Runs of fewer files tell no progress and no times. */
const MANY = 20
const SLOWEST = 40
/** Lines of a message, and of what a failed file printed. */
const MESSAGE = 40
const PRINTED = 60

export default class LogReporter implements Reporter {
  #root = process.cwd()
  #files = 0
  #ended = 0
  #start = performance.now()
  readonly #failures: Failure[] = []
  readonly #printed = new Map<string, string[]>()
  readonly #rooms = new Map<string, { files: number; startedAt: number; ended: number; took: number }>()

  onTestRunStart(files: readonly TestSpecification[]): void {
    this.#files = files.length
    this.#start = performance.now()
  }

  onTestModuleStart({ project }: TestModule): void {
    const room = this.#rooms.get(project.name)
    if (room === undefined) this.#rooms.set(project.name, { files: 0, startedAt: performance.now(), ended: 0, took: 0 })
  }

  onUserConsoleLog({ taskId, content }: UserConsoleLog): void {
    // The id of a test begins with that of its file.
    const file = (taskId ?? '').split('_')[0] ?? ''
    this.#printed.set(file, [...(this.#printed.get(file) ?? []), content].slice(-PRINTED))
  }

  onTestModuleEnd(module: TestModule): void {
    this.#ended += 1
    const room = this.#rooms.get(module.project.name)
    if (room !== undefined) {
      room.files += 1
      room.ended = performance.now()
      room.took += durationOf(module)
    }
    const failures = failuresOf(module, this.#root)
    this.#failures.push(...failures)
    for (const failure of failures) print(failure)
    const printed = this.#printed.get(module.id.split('_')[0] ?? '') ?? []
    if (failures.length > 0 && printed.length > 0) console.log(`  printed by this file:\n${indent(printed.join(''))}`)
    this.#printed.delete(module.id.split('_')[0] ?? '')
    const tenth = (ended: number) => Math.floor((ended * 10) / this.#files)
    if (this.#files >= MANY && tenth(this.#ended) > tenth(this.#ended - 1)) {
      const failed = this.#failures.length === 0 ? '' : `, ${this.#failures.length} failed`
      console.log(`${this.#ended} of ${this.#files} files, ${duration(performance.now() - this.#start)}${failed}`)
    }
  }

  onTestRunEnd(
    modules: readonly TestModule[],
    unhandled: readonly SerializedError[],
    reason: 'passed' | 'failed' | 'interrupted',
  ): void {
    const faults = [...this.#failures, ...unhandled.map((error) => failure('outside of a test', error, this.#root))]
    const tests = modules.flatMap((module) => [...module.children.allTests()])
    const passed = tests.filter((test) => test.result().state === 'passed').length
    if (this.#files >= MANY) this.#printTimes(modules)
    if (faults.length > 0) console.log(`\nAll failures`)
    for (const fault of faults) print(fault)
    // Where a set-up fails nothing runs.
    const failed = faults.length === 0 && (reason !== 'passed' || tests.length === 0) ? 1 : faults.length
    console.log(`${passed} passed, ${failed} failed`)
  }

  #printTimes(modules: readonly TestModule[]): void {
    const slowest = modules
      .map((module) => ({ name: nameOf(module, this.#root), took: durationOf(module) }))
      .toSorted((one, other) => other.took - one.took)
      .slice(0, SLOWEST)
    console.log(`Slowest files\n${slowest.map(({ name, took }) => `  ${duration(took)}  ${name}`).join('\n')}`)
    const rooms = [...this.#rooms].map(
      ([name, { files, startedAt, ended, took }]) =>
        `  ${duration(ended - startedAt)}  ${name}, ${files}, ${duration(took)} in all`,
    )
    console.log(
      `Rooms, from their first file to their last, their number of files and what these took\n${rooms.join('\n')}`,
    )
  }
}

/** Of its tests, and of what is outside of them, such as a set-up. */
function failuresOf(module: TestModule, root: string): readonly Failure[] {
  const name = nameOf(module, root)
  const suites = [...module.children.allSuites()].flatMap((suite) =>
    suite.errors().map((error) => failure(`${name} > ${suite.fullName}`, error, root)),
  )
  const tests = [...module.children.allTests('failed')].flatMap((test: TestCase) =>
    (test.result().errors ?? []).slice(0, 1).map((error) => failure(`${name} > ${test.fullName}`, error, root)),
  )
  return [...module.errors().map((error) => failure(name, error, root)), ...suites, ...tests]
}

function failure(title: string, error: SerializedError, root: string): Failure {
  const at = error.stacks?.find(({ file }) => file.startsWith(root) && !file.includes('node_modules'))
  const place = at === undefined ? '' : `${relative(root, at.file)}:${at.line}:${at.column}`
  const text = `${error.name ?? 'Error'}: ${error.message}\n${error.diff ?? ''}`
  const lines = stripVTControlCharacters(text).trimEnd().split('\n')
  return { title, message: lines.slice(0, MESSAGE).join('\n'), place }
}

function print({ title, message, place }: Failure): void {
  console.log(` FAIL  ${title}\n${indent(message)}${place === '' ? '' : `\n    at ${place}`}`)
}

const indent = (text: string) => text.trimEnd().replace(/^/gm, '    ')

const nameOf = ({ project, moduleId }: TestModule, root: string) => `[${project.name}] ${relative(root, moduleId)}`

function durationOf(module: TestModule): number {
  const { duration, collectDuration, setupDuration, prepareDuration, environmentSetupDuration } = module.diagnostic()
  return duration + collectDuration + setupDuration + prepareDuration + environmentSetupDuration
}

/** Milliseconds as seconds, or as minutes and seconds. */
function duration(milliseconds: number): string {
  const seconds = Math.round(milliseconds / 1000)
  return seconds < 100 ? `${seconds} s` : `${Math.floor(seconds / 60)} min ${seconds % 60} s`
}
