/** The rules of names, which hold for what is new or renamed. */
import { byteLength } from '../migration/derive.ts'
import { MAX_NAME_LENGTH } from '../model/api-name.ts'
import { fileFault } from './reading.ts'

export function checkApiName(name: string, place: string): void {
  if (!/^[A-Za-z][A-Za-z0-9_]*$/.test(name)) {
    throw fileFault(place, 'must start with a letter and contain only letters, digits and underscores')
  }
  if (name.length > MAX_NAME_LENGTH) throw fileFault(place, `must have at most ${MAX_NAME_LENGTH} characters`)
}

export function checkDbName(name: string, place: string): void {
  if (name.includes('\0') || !name.isWellFormed()) throw fileFault(place, 'has characters that no database can store')
  if (byteLength(name) > MAX_NAME_LENGTH) throw fileFault(place, `must be at most ${MAX_NAME_LENGTH} bytes long`)
}
