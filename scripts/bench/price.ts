/**
 * `npm run bench:price -- ../other`: what a change costs or saves. The service of this tree and that of another working
 * tree answer the same requests over one database in alternating rounds; the figure is CPU time of the server's process
 * per request, which other work on the machine changes less than a rate. docs/fast-path.md tells how it is used.
 */
import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { endWithNpm } from '../npm-run.ts'
import { type Case, cases, requestsOf } from './cases.ts'
import { type Child, startChild } from './child.ts'
import { median } from './compare.ts'
import { openData } from './data.ts'
import type { LoadOrder } from './load.ts'
import type { OurQuestion } from './our-node.ts'

const CONNECTIONS = 8
const PER_CONNECTION = 250
const ROUNDS = 21

type Side = { readonly child: Child; readonly port: number }

endWithNpm()
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { cases: { type: 'string', default: 'point-read,list,insert' } },
})
const [other] = positionals
if (other === undefined) throw new Error('Name the other working tree: npm run bench:price -- ../other')

const data = await openData()
const load = startChild('./load.ts')
const open = async (file: string): Promise<Side> => {
  const child = startChild(file, data.environment)
  return { child, port: Number(new URL(await child.ask<string>({ kind: 'start' } satisfies OurQuestion)).port) }
}
const sides = [await open('./our-node.ts'), await open(resolve(other, 'scripts/bench/our-node.ts'))] as const

try {
  for (const subject of cases.filter(({ name }) => values.cases.split(',').includes(name))) {
    const rounds = await priceOf(subject)
    const [here, there] = [median(rounds.map(([first]) => first)), median(rounds.map(([, second]) => second))]
    const ratio = median(rounds.map(([first, second]) => second / first))
    console.log(
      `  ${subject.name}: here ${here.toFixed(1)} µs, there ${there.toFixed(1)} µs, there over here ${ratio.toFixed(3)}`,
    )
  }
} finally {
  for (const { child } of sides) await child.close()
  await load.close()
  await data.close()
}

/** Returns microseconds of CPU per request, here and there, of each round. */
async function priceOf(subject: Case): Promise<readonly (readonly [number, number])[]> {
  const requests = requestsOf(subject, `/api/bench${subject.path}`, data.token)
  const run = async ({ child, port }: Side): Promise<number> => {
    const before = await child.ask<number>({ kind: 'cpu' } satisfies OurQuestion)
    const order = { port, requests, connections: CONNECTIONS, perConnection: PER_CONNECTION, seconds: 60 }
    await load.ask(order satisfies LoadOrder)
    const after = await child.ask<number>({ kind: 'cpu' } satisfies OurQuestion)
    return (after - before) / (CONNECTIONS * PER_CONNECTION)
  }
  for (const side of [...sides, ...sides]) await run(side)
  const rounds: (readonly [number, number])[] = []
  for (let round = 0; round < ROUNDS; round += 1) {
    // The order alternates, so that neither side always runs after the other.
    if (round % 2 === 0) {
      const here = await run(sides[0])
      rounds.push([here, await run(sides[1])])
    } else {
      const there = await run(sides[1])
      rounds.push([await run(sides[0]), there])
    }
  }
  return rounds
}
