import { describe, expect, it } from 'vitest'
import { ErrorCode } from '../../../src/core/connector/error-code.ts'
import { endedFault, handlerFault, loadFault, missingMethod, startFault } from '../../../src/core/connector/fault.ts'
import { grantMismatch, noConnectionTest, requireGrant } from '../../../src/core/connector/handshake.ts'
import { errorBody, type ServiceError } from '../../../src/core/error.ts'

const own = { source: { message: 'the extension returned an error: said so' } }

describe('what a handler throws', () => {
  it.each<[string, number | null, boolean, string, object]>([
    [
      'CollectionNotFound',
      ErrorCode.CollectionNotFound,
      false,
      'notFound',
      { message: 'Table does not exist', code: '2004' },
    ],
    [
      'UniqueConstraintViolation',
      ErrorCode.UniqueConstraintViolation,
      false,
      'invalid',
      { message: 'Unique constraint failed', code: '1002' },
    ],
    [
      'NullConstraintViolation',
      ErrorCode.NullConstraintViolation,
      false,
      'invalid',
      { message: 'Null constraint failed', code: '1003' },
    ],
    [
      'ForeignKeyConstraintViolation',
      ErrorCode.ForeignKeyConstraintViolation,
      false,
      'invalid',
      { message: 'Foreign key constraint failed', code: '1004' },
    ],
    [
      'QueryRejected',
      ErrorCode.QueryRejected,
      false,
      'invalid',
      { message: 'The data source rejected the query', code: '100' },
    ],
    [
      'ItemChanged',
      ErrorCode.ItemChanged,
      false,
      'preconditionFailed',
      { message: 'Precondition failed', code: '4120' },
    ],
    ['a permission denial', null, true, 'invalid', { message: 'Invalid extension permissions', code: '2003' }],
    [
      'a permission denial with a code of its own',
      ErrorCode.RateLimited,
      true,
      'invalid',
      { message: 'Invalid extension permissions', code: '2003' },
    ],
    [
      'ConnectionFailed',
      ErrorCode.ConnectionFailed,
      false,
      'failed',
      { message: 'Failed to connect to the database', code: '5001' },
    ],
    [
      'RateLimited',
      ErrorCode.RateLimited,
      false,
      'failed',
      { message: 'Failed to connect to the database', code: '5002' },
    ],
    [
      'InvalidConfiguration',
      ErrorCode.InvalidConfiguration,
      false,
      'invalid',
      { message: 'Invalid extension configuration', code: '2001' },
    ],
    [
      'AccessDenied',
      ErrorCode.AccessDenied,
      false,
      'invalid',
      { message: 'Invalid extension configuration', code: '2002' },
    ],
    ['a plain error', null, false, 'failed', { message: 'Failed to query the database' }],
    ['an unrecognized code', 4711, false, 'failed', { message: 'Failed to query the database' }],
    [
      'a code that only the engine raises',
      ErrorCode.InvalidPermissions,
      false,
      'failed',
      { message: 'Failed to query the database' },
    ],
    [
      'the code of a missing method',
      ErrorCode.MethodNotFound,
      false,
      'failed',
      { message: 'Failed to query the database' },
    ],
    [
      'the code of an internal error',
      ErrorCode.InternalError,
      false,
      'failed',
      { message: 'Failed to query the database' },
    ],
  ])('%s', (_, code, denied, kind, body) => {
    const error = handlerFault({ message: 'said so', code, denied })

    expect(error.kind).toBe(kind)
    expect(errorBody(error)).toEqual({ ...body, ...own })
  })

  it('is cut where it is as long as an answer', () => {
    const { cause } = handlerFault({ message: 'x'.repeat(5_000), code: null, denied: false })

    expect((cause as ServiceError).message.length).toBeLessThan(1_100)
  })
})

describe('what a start throws', () => {
  it.each<[string, number | null, boolean, object]>([
    ['InvalidConfiguration', 2001, false, { message: 'Invalid extension configuration', code: '2001' }],
    ['AccessDenied', 2002, false, { message: 'Invalid extension configuration', code: '2002' }],
    ['a permission denial', 2001, true, { message: 'Invalid extension permissions', code: '2003' }],
    ['a plain error', null, false, { message: 'Invalid extension configuration' }],
    ['any other class', 5001, false, { message: 'Invalid extension configuration' }],
  ])('%s', (_, code, denied, body) => {
    const error = startFault({ message: 'said so', code, denied })

    expect(error.kind).toBe('invalid')
    expect(errorBody(error)).toEqual({ ...body, ...own })
  })

  it('may be a file that does not load', () => {
    expect(errorBody(loadFault({ message: 'said so', denied: false }))).toEqual({
      message: 'The connector file could not be loaded',
      ...own,
    })
    expect(errorBody(loadFault({ message: 'said so', denied: true }))).toMatchObject({
      message: 'Invalid extension permissions',
    })
  })
})

describe('what nobody throws', () => {
  it.each([
    ['time', 'the extension took too long to answer and was ended'],
    ['memory', 'the extension used too much memory and was ended'],
    ['crash', 'the extension ended before it answered'],
  ] as const)('an isolate that ends: %s', (reason, message) => {
    expect(errorBody(endedFault(reason))).toEqual({ message: 'Failed to query the database', source: { message } })
  })

  it('a missing handler', () => {
    expect(missingMethod()).toMatchObject({
      kind: 'failed',
      message: 'Unsupported operation: a protocol method the extension does not implement',
    })
  })
})

describe('the handshake', () => {
  const required = [{ permission: 'net:a.com', reason: 'why' }]

  it.each([
    [[]],
    [[{ permission: 'net:b.com', reason: 'why' }]],
    [[...required, { permission: 'net:b.com', reason: '.' }]],
  ])('answers 7001 with the complete set for %j', (sent) => {
    expect(() => requireGrant(sent, required)).toThrow(grantMismatch(required))
  })

  it('is done where the targets are the same', () => {
    expect(() => requireGrant([{ permission: 'net:a.com', reason: 'other' }], required)).not.toThrow()
  })

  it('knows 7002', () => {
    expect(noConnectionTest()).toMatchObject({ kind: 'invalid', code: '7002' })
  })
})
