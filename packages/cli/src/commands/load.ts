/** `load`: the items of a folder, a file for each collection, added or changed by their keys; so it can be run again. */
import { resolve } from 'node:path'
import type { ManifestText } from 'governed-data-client/generate'
import { schema } from 'governed-data-client/system'
import type { Command } from '../command.ts'
import { connect, openProject } from '../connection.ts'
import { loadFolder } from '../load-folder.ts'

export const load: Command = {
  name: 'load',
  usage: 'DIR',
  summary: 'adds or changes items by their keys, out of <collection>.json files',
  flags: {},
  parameters: ['DIR'],
  async run(call) {
    const {
      host,
      terminal,
      parameters: [folder = ''],
    } = call
    const { db, must } = await connect(call, await openProject(host, call.values.env))
    const manifest = (await must(schema(db).manifest())) as ManifestText
    const { progress } = terminal
    const counts = await loadFolder({ db, must, manifest, folder: resolve(host.cwd, folder), progress })
    return { data: counts, text: Object.entries(counts).map(([name, count]) => `${name}: ${count}`) }
  },
}
