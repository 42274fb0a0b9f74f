/** What the parts of the Worker that load apart are made of (decision 055). */
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { writeWorkerParts } from '../scripts/worker-parts.ts'

it('leaves out of the driver of Neon what requests over HTTP do not need', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'parts-'))
  await writeWorkerParts(directory)

  const text = await readFile(join(directory, 'neon.js'), 'utf8')
  await rm(directory, { recursive: true })

  expect(text).toContain('Neon-Connection-String')
  expect(text).not.toContain('SCRAM')
  expect(text).not.toContain('INSPECT_MAX_BYTES')
})
