import { describe, expect, it } from 'vitest'
import {
  type ActivityEvent,
  active,
  activityAfter,
  couldNotStart,
  type Deactivation,
  deactivatedAnswer,
  restarting,
} from '../../../src/core/connector/activity.ts'
import { errorBody } from '../../../src/core/error.ts'

const required = [{ permission: 'net:a.com', reason: 'why' }]
const thrown = (code: number | null, denied = false) => ({ message: 'said so', code, denied })
const broken: Deactivation = { kind: 'broken' }

describe('an active source', () => {
  it.each<[string, ActivityEvent, Deactivation]>([
    [
      'InvalidConfiguration from setup',
      { kind: 'threw', from: 'setup', thrown: thrown(2001) },
      { kind: 'refused', thrown: thrown(2001) },
    ],
    [
      'AccessDenied from setup',
      { kind: 'threw', from: 'setup', thrown: thrown(2002) },
      { kind: 'refused', thrown: thrown(2002) },
    ],
    [
      'InvalidConfiguration from preflight',
      { kind: 'threw', from: 'preflight', thrown: thrown(2001) },
      { kind: 'refused', thrown: thrown(2001) },
    ],
    [
      'AccessDenied from preflight',
      { kind: 'threw', from: 'preflight', thrown: thrown(2002) },
      { kind: 'refused', thrown: thrown(2002) },
    ],
    [
      'a permission denial in setup',
      { kind: 'threw', from: 'setup', thrown: thrown(null, true) },
      { kind: 'refused', thrown: thrown(null, true) },
    ],
    [
      'a permission denial in preflight',
      { kind: 'threw', from: 'preflight', thrown: thrown(100, true) },
      { kind: 'refused', thrown: thrown(100, true) },
    ],
    ['setup without handlers', { kind: 'noHandlers' }, { kind: 'noHandlers' }],
    ['a preflight that cannot be read', { kind: 'badPreflight' }, broken],
    ['another required set', { kind: 'mismatch', required }, { kind: 'mismatch', required }],
    ['a file that does not load', { kind: 'unloadable' }, broken],
    ['an extension that is gone', { kind: 'uninstalled' }, broken],
    ['other capabilities', { kind: 'capabilitiesChanged' }, { kind: 'capabilities' }],
  ])('is deactivated by %s', (_, event, because) => {
    expect(activityAfter(active, event)).toEqual({ kind: 'deactivated', because })
  })

  it.each<[string, ActivityEvent]>([
    ['a plain error from setup', { kind: 'threw', from: 'setup', thrown: thrown(null) }],
    ['ConnectionFailed from setup', { kind: 'threw', from: 'setup', thrown: thrown(5001) }],
    ['QueryRejected from preflight', { kind: 'threw', from: 'preflight', thrown: thrown(100) }],
    ['an engine code thrown by setup', { kind: 'threw', from: 'setup', thrown: thrown(2003) }],
    ['InvalidConfiguration from query', { kind: 'threw', from: 'query', thrown: thrown(2001) }],
    ['AccessDenied from testConnection', { kind: 'threw', from: 'testConnection', thrown: thrown(2002) }],
    ['a permission denial in introspect', { kind: 'threw', from: 'introspect', thrown: thrown(null, true) }],
  ])('stays so after %s', (_, event) => {
    expect(activityAfter(active, event)).toBe(active)
  })
})

describe('a deactivated source', () => {
  it.each<Deactivation>([
    broken,
    { kind: 'capabilities' },
    { kind: 'noHandlers' },
    { kind: 'mismatch', required },
    { kind: 'refused', thrown: thrown(2001) },
  ])('may be started again after a reload: %j', (because) => {
    expect(activityAfter({ kind: 'deactivated', because }, { kind: 'renewed' })).toBe(active)
  })

  it.each<[Deactivation, string, object]>([
    [
      { kind: 'refused', thrown: thrown(2001) },
      'invalid',
      {
        message: 'The extension could not be started',
        source: {
          message: 'Invalid extension configuration',
          code: '2001',
          source: { message: 'the extension returned an error: said so' },
        },
      },
    ],
    [
      { kind: 'refused', thrown: thrown(null, true) },
      'invalid',
      {
        message: 'The extension could not be started',
        source: {
          message: 'Invalid extension permissions',
          code: '2003',
          source: { message: 'the extension returned an error: said so' },
        },
      },
    ],
    [
      { kind: 'noHandlers' },
      'invalid',
      { message: 'The extension could not be started', source: { message: 'Invalid extension configuration' } },
    ],
    [
      { kind: 'mismatch', required },
      'invalid',
      { message: 'Invalid extension permissions', code: '7001', meta: { permissions: required } },
    ],
    [broken, 'unavailable', { message: 'Data source is deactivated' }],
    [{ kind: 'capabilities' }, 'unavailable', { message: 'Data source is deactivated' }],
  ])('%j answers %s %j', (because, kind, body) => {
    const error = deactivatedAnswer(because)

    expect(error.kind).toBe(kind)
    expect(errorBody(error)).toEqual(body)
  })

  it('says when it is being started', () => {
    expect(errorBody(restarting())).toEqual({ message: 'Data source is restarting' })
    expect(couldNotStart(restarting()).kind).toBe('unavailable')
  })
})
