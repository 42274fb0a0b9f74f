/** A process that stores one part after the other, each twice, and prints the number of each that is stored, until it is killed. */
import { openFileFolder } from '../../src/platform/node/file-folder.ts'

const [folder = '', key = ''] = process.argv.slice(2)
const store = openFileFolder(folder)

for (let number = 1; ; number += 1) {
  await store.put(key, number, new Uint8Array(1024 ** 2).fill(number))
  process.stdout.write(`${number}\n`)
  await store.put(key, number, new Uint8Array(1024 ** 2).fill(number))
}
