/** `migrate`: the operations of a file, all or none (docs/api.md#migrations). */
import { resolve } from 'node:path'
import { schema } from 'governed-data-client/system'
import type { Command } from '../command.ts'
import { CHANGED_WITHIN, connect, openProject } from '../connection.ts'
import { Failure } from '../failure.ts'
import { parseJson, readText } from '../written-file.ts'

type Operation = Parameters<ReturnType<typeof schema>['migrate']>[0][number]

export const migrate: Command = {
  name: 'migrate',
  usage: 'FILE [--dry-run | --plan PLAN]',
  summary: 'runs the operations of a file: a list, or {"operations": […]}',
  flags: { 'dry-run': 'switch', plan: 'value' },
  parameters: ['FILE'],
  async run(call) {
    const {
      host,
      terminal,
      switches,
      parameters: [file = ''],
    } = call
    const path = resolve(host.cwd, file)
    const text = await readText(path)
    if (text === undefined) throw new Failure(`${file} is not there`)
    const operations = operationsOf(file, parseJson(file, text))
    const held = call.values.plan === undefined ? {} : { plan: call.values.plan }
    const { db, must } = await connect(call, await openProject(host, call.values.env))
    if (switches.has('dry-run')) {
      const { statements, plan } = await must(schema(db).dryRun(operations))
      const lines = statements.map(({ sql }) => `${sql};`)
      const text = [...(lines.length > 0 ? lines : ['no statements']), `-- --plan ${plan} does exactly this`]
      return { data: { statements, plan }, text }
    }
    terminal.progress('migrating …')
    await must(schema(db).migrate(operations, { ...held, timeout: CHANGED_WITHIN }))
    return {
      data: { operations: operations.length },
      text: [operations.length === 1 ? '1 operation done' : `${operations.length} operations done`],
    }
  },
}

function operationsOf(file: string, content: unknown): readonly Operation[] {
  const list = Array.isArray(content) ? content : (content as { readonly operations?: unknown } | null)?.operations
  if (Array.isArray(list)) return list
  throw new Failure(`${file} holds no operations`, {
    help: 'a list of {"kind": "…", "data": {…}}, or {"operations": […]}',
  })
}
