/** Measures the cost of the license check per item request: no outside request and almost no time. */
import type { Eventual } from '../../src/core/and-then.ts'
import { findCase } from './cases.ts'
import { median } from './compare.ts'
import type { Measured } from './figures.ts'
import type { Lab } from './lab.ts'

const READS = 200
const CHECKS = 1_000_000
const ROUNDS = 9

/**
 * Runs sequential reads with an online license, and counts their requests to the database and the licensing service.
 */
export async function measureLicense(lab: Lab, progress: (text: string) => void): Promise<readonly Measured[]> {
  const { token, admit } = await lab.data()
  const { port, database, licensing } = await lab.licensed()
  const path = `/api/bench${findCase('point-read').path.replace('{key}', '1')}`
  const read = async () => {
    const response = await fetch(`http://127.0.0.1:${port}${path}`, { headers: { Authorization: `Bearer ${token}` } })
    if (response.status !== 200) throw new Error(`${path} answered ${response.status}`)
    await response.text()
  }
  await read()
  const activations = licensing.count()
  const requests: number[] = []
  progress(`${READS} reads under a license by key`)
  for (let count = 0; count < READS; count += 1) {
    const before = database.count()
    await read()
    // One of the requests is the read itself.
    requests.push(database.count() - before - 1)
  }
  const validations = licensing.count() - activations

  progress('checks in memory')
  const nanoseconds = median(Array.from({ length: ROUNDS }, () => timeChecks(admit)))
  const exactly = { kind: 'atMost', value: 0 } as const
  return [
    {
      what: 'license: requests to the licensing service by item reads',
      bound: exactly,
      value: validations,
      unit: '',
      detail: `${READS} reads; ${activations} at the start`,
    },
    {
      what: 'license: requests to the database beside the read itself, per warm read',
      bound: exactly,
      value: median(requests),
      unit: '',
      detail: `${requests.reduce((sum, count) => sum + count, 0)} for ${READS} reads, versions included`,
    },
    {
      what: 'license: the check of one item request',
      bound: { kind: 'atMost', value: 5_000 },
      value: nanoseconds,
      unit: 'ns',
      detail: `${CHECKS.toLocaleString('en')} checks in memory, median of ${ROUNDS}`,
    },
  ]
}

/** Returns nanoseconds of the check of one request. */
function timeChecks(admit: () => Eventual<void>): number {
  const start = performance.now()
  for (let check = 0; check < CHECKS; check += 1) {
    if (admit() !== undefined) throw new Error('the check does not answer at once')
  }
  return ((performance.now() - start) * 1e6) / CHECKS
}
