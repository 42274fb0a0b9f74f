/** Who is unknown is not told by how little it costs to refuse them. */
import { expect, it } from 'vitest'
import { scryptPasswords } from '../../src/platform/password.ts'

it('never matches an unknown account or a text that is no hash, at the cost of a real one', async () => {
  const hash = await scryptPasswords.hash('secret')
  // Work of this process, all its threads: how long it takes says more about what else the machine does.
  const cost = async (known: string | undefined) => {
    const start = process.cpuUsage()
    expect(await scryptPasswords.verify('wrong', known)).toBe(false)
    return process.cpuUsage(start).user
  }

  const real = Math.min(await cost(hash), await cost(hash))

  expect(await cost(undefined)).toBeGreaterThan(real / 3)
  expect(await cost('plain text')).toBeGreaterThan(real / 3)
})
