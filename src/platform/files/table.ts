/**
 * Files in the system database, for a Worker without a bucket. Bytes travel as base64, since a driver over HTTP takes texts
 * only, and lie in rows small enough for one statement.
 */
import type { Statement } from '../../core/sql/statement.ts'
import type { SqlDriver } from '../../ports/database.ts'
import type { PartStore } from './checked.ts'
import { TABLE_LIMIT } from './limits.ts'
import { pulled } from './pulled.ts'

const PIECE_SIZE = 1024 ** 2

/** Bytes that are read at once, of which each download that nobody takes holds two or three. */
const READ_SIZE = 128 * 1024

/** `database` is the system database. */
export function openFileTable(database: SqlDriver): PartStore {
  return {
    limit: TABLE_LIMIT,

    async put(key, number, bytes) {
      const count = Math.max(1, Math.ceil(bytes.byteLength / PIECE_SIZE))
      const writes = Array.from({ length: count }, (_, piece) =>
        writePiece(key, number, piece, bytes.subarray(piece * PIECE_SIZE, (piece + 1) * PIECE_SIZE)),
      )
      await database.batch([...writes, deletePiecesFrom(key, number, count)])
    },

    async read(key, number, offset, length) {
      const [[size] = []] = await database.query(sizeOf(key, number))
      if (Number(size ?? 0) < offset + length) return undefined
      const next = async (sent: number) => {
        const at = offset + sent
        const [[text] = []] = await database.query(readPiece(key, number, at, Math.min(READ_SIZE, length - sent)))
        return Buffer.from(text ?? '', 'base64')
      }
      return pulled({ length, next })
    },

    async parts(key) {
      const rows = await database.query(sizes(key))
      return rows.map(([number, size]) => ({ number: Number(number), size: Number(size) }))
    },

    async clear(key) {
      await database.query(deleteAll(key))
    },
  }
}

const isFile = 'workspace_id = $1::uuid and file_id = $2::uuid'

function writePiece(key: string, number: number, piece: number, bytes: Uint8Array): Statement {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64')
  return {
    text: `insert into service.file_part (workspace_id, file_id, number, piece, bytes)
      values ($1::uuid, $2::uuid, $3::int, $4::int, decode($5::text, 'base64'))
      on conflict (workspace_id, file_id, number, piece) do update set bytes = excluded.bytes`,
    params: [...key.split('/'), `${number}`, `${piece}`, text],
  }
}

/** What an earlier, longer part has left. */
function deletePiecesFrom(key: string, number: number, piece: number): Statement {
  return {
    text: `delete from service.file_part where ${isFile} and number = $3::int and piece >= $4::int`,
    params: [...key.split('/'), `${number}`, `${piece}`],
  }
}

function sizeOf(key: string, number: number): Statement {
  return {
    text: `select sum(octet_length(bytes))::text from service.file_part where ${isFile} and number = $3::int`,
    params: [...key.split('/'), `${number}`],
  }
}

/** The bytes of one piece from the byte `at` of the part on, at most `length`. */
function readPiece(key: string, number: number, at: number, length: number): Statement {
  return {
    text: `select encode(substring(bytes from $5::int for $6::int), 'base64')
      from service.file_part where ${isFile} and number = $3::int and piece = $4::int`,
    params: [...key.split('/'), `${number}`, `${Math.floor(at / PIECE_SIZE)}`, `${(at % PIECE_SIZE) + 1}`, `${length}`],
  }
}

function sizes(key: string): Statement {
  return {
    text: `select number::text, sum(octet_length(bytes))::text from service.file_part where ${isFile} group by number`,
    params: key.split('/'),
  }
}

function deleteAll(key: string): Statement {
  const params = key.split('/')
  return {
    text: `delete from service.file_part where ${params.length === 1 ? 'workspace_id = $1::uuid' : isFile}`,
    params,
  }
}
