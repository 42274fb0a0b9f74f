/** Pages with commands, one after the other, as a reader would paste them, against the local run. */
import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { firstOf } from '../support/run/cases.ts'
import { prepareEmbedded } from '../support/servers/embedded-cluster.ts'
import { type LocalRun, startLocalRun } from '../support/service/local-run.ts'

const run = promisify(execFile)
let directory: string
let local: LocalRun

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'tutorial-'))
  await prepareEmbedded(join(directory, 'data/postgres'))
  local = await startLocalRun('start:node', { SERVICE_DATA_DIR: join(directory, 'data'), SERVICE_DEMO: 'false' })
})
afterAll(async () => {
  await local.interrupt()
  await rm(directory, { recursive: true, force: true })
})

it.each(firstOf(['tutorial', 'three-clients'], 1))('answers what the page shows: %s', async (name) => {
  const page = await readFile(`docs/${name}.md`, 'utf8')
  const blocks = [...page.matchAll(/^```(sh|json)\n(.*?)^```/gms)].map(([, kind = '', text = '']) => ({ kind, text }))
  const commands = blocks.filter(({ kind }) => kind === 'sh')
  const [, PASSWORD = ''] = /password (\S+) \(shown once\)/.exec(local.output()) ?? []
  // One shell for all, since later commands use the variables of earlier ones.
  const script = commands.map(({ text }, index) => `{ ${text}\n} > ${directory}/${index}`).join('\n')

  await run('bash', ['-euo', 'pipefail', '-c', script], {
    cwd: directory,
    env: { ...process.env, API: `${local.url}/api`, PASSWORD },
  })

  expect(commands.length).toBeGreaterThan(9)
  for (const [index, command] of commands.entries()) {
    const printed: unknown = JSON.parse(await readFile(join(directory, String(index)), 'utf8'))
    const next = blocks[blocks.indexOf(command) + 1]
    if (next?.kind === 'json') expect(printed, command.text).toEqual(pattern(JSON.parse(next.text)))
    else expect(printed, command.text).toHaveProperty('data')
  }
})

/** What is shown, with `…` for any text; of an error only what is shown. */
function pattern(shown: unknown): unknown {
  if (shown === '…') return expect.any(String)
  if (Array.isArray(shown)) return shown.map(pattern)
  if (typeof shown !== 'object' || shown === null) return shown
  const members = Object.fromEntries(Object.entries(shown).map(([name, value]) => [name, pattern(value)]))
  return 'message' in shown ? expect.objectContaining(members) : members
}
