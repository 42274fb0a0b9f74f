/** What a file may be called (docs/contract.md#files), and how its name is sent. */
import { nested, type ServiceError } from '../error.ts'
import { shortName } from '../message-text.ts'

/** What is wrong with a file or its upload: the place, and the reason. */
export function assetFault(place: string, reason: string): ServiceError {
  return nested('invalid', ['Failed to read the file', place, reason])
}

/** Bytes of UTF-8 that every file system takes. */
const LONGEST_NAME = 255

/** What shows another name than there is: controls, and what turns the direction of writing around. */
const hidden = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]/u

/** Returns the name as it was sent. Throws 422 at `place` where it is none, or is not one of a file alone. */
export function checkFileName(name: string | undefined, place: string): string {
  const reason = faultOf(name)
  if (reason === undefined && name !== undefined) return name
  throw assetFault(place, reason ?? 'must be given')
}

function faultOf(name: string | undefined): string | undefined {
  if (name === undefined || name === '') return 'must be given'
  if (new TextEncoder().encode(name).length > LONGEST_NAME) return `is longer than ${LONGEST_NAME} bytes`
  if (name === '.' || name === '..') return `must not be ${name}`
  if (name.includes('/')) return 'must not have a slash'
  if (hidden.test(name)) return `must not have control characters: ${JSON.stringify(shortName(name))}`
  return name.trim() === '' ? 'must not be blank' : undefined
}

/** The value of `Content-Disposition` (RFC 6266): the name in ASCII for old clients, and as it is; undefined is none. */
export function disposition(kind: 'inline' | 'attachment', name: string | undefined): string {
  if (name === undefined) return kind
  const plain = name.replaceAll(/[^\x20-\x7e]/gu, '_').replaceAll(/["\\%]/g, '_')
  const exact = encodeURIComponent(name).replaceAll(
    /['()*]/g,
    (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`,
  )
  return `${kind}; filename="${plain}"${plain === name ? '' : `; filename*=UTF-8''${exact}`}`
}
