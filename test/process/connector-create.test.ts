/** `npm run connector:create`: what it makes works, and its test passes as it is. */
import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, expect, it } from 'vitest'
import { writeModelSchema } from '../../packages/client/src/generate.ts'
import { createConnector } from '../../scripts/create-connector.ts'

const root = join(import.meta.dirname, '../..')
/** Inside of the repository, so that packages are found, and out of everybody's way. */
const directory = join(root, 'test/.connectors', randomBytes(6).toString('hex'))

afterAll(() => rm(directory, { recursive: true, force: true }))

it('makes a connector whose test passes', async () => {
  const folder = await createConnector('tasks', directory)

  const vitest = join(root, 'node_modules/vitest/vitest.mjs')
  const report = join(directory, 'report.json')
  const args = [vitest, 'run', '--project', 'extensions', '--reporter=json', `--outputFile.json=${report}`, folder]
  // Not as a worker of the run that we are part of.
  const { PATH = '', HOME = '' } = process.env
  await promisify(execFile)(process.execPath, args, { cwd: root, env: { PATH, HOME } })

  expect(JSON.parse(await readFile(report, 'utf8'))).toMatchObject({ numPassedTests: 6, numFailedTests: 0 })
})

it('says how its collection stands in the model file, and what the client asks of it', async () => {
  const folder = await createConnector('tracked', directory)
  const text = await readFile(join(folder, 'README.md'), 'utf8')
  const [, json = ''] = /```json\n(.*?)```/s.exec(text) ?? []
  const [, code = ''] = /```ts\n(.*?)```/s.exec(text) ?? []
  const { collections } = JSON.parse(json)
  const source = await readFile(join(folder, 'index.ts'), 'utf8')
  const declared = [...source.matchAll(/name: '(\w+)', type: \{ name: '(\w+)' \}/g)].map(([, name, type]) => [
    name,
    type,
  ])

  expect(Object.fromEntries(declared)).toEqual(collections.tasks.fields)
  expect(writeModelSchema(JSON.parse(json))).toContain('taskId')
  expect(code).toContain("{ task: ['title', 'done'] }")
})

it.each([
  ['', 'npm run connector:create NAME'],
  ['Tasks', 'The name must be lower-case letters'],
  ['../tasks', 'The name must be lower-case letters'],
  ['tasks', 'exists already'],
])('refuses the name %j', async (name, reason) => {
  await expect(createConnector(name, directory)).rejects.toThrow(reason)
})
