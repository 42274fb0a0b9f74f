/** What providers say of people. */
import { expect, it } from 'vitest'
import { parseAddresses, parseProfile } from '../../../src/core/access/profile.ts'

const claims = { sub: '7', email: 'a@example.com', email_verified: true, name: ' Ada Lovelace ' }

it('reads subject, verified address and name', () => {
  expect(parseProfile('https://id', claims)).toEqual({
    issuer: 'https://id',
    subject: '7',
    email: 'a@example.com',
    fullName: 'Ada Lovelace',
  })
})

it.each([
  ['not verified', { email_verified: false }],
  ['not said to be verified', { email_verified: undefined }],
  ['verified by something else', { email_verified: 'yes' }],
  ['verified by a list', { email_verified: [true] }],
  ['none', { email: 'ada' }],
  ['no text', { email: ['a@example.com'] }],
  ['one that folds to another in lower case', { email: 'mi\u212Ae@example.com' }],
  ['at a host that looks like another', { email: 'a@ex\u0430mple.com' }],
  ['one with a line break', { email: 'a@example.com\n' }],
  ['too long', { email: `${'a'.repeat(320)}@example.com` }],
])('has no address where it is %s', (_, change) => {
  expect(parseProfile('https://id', { ...claims, ...change })?.email).toBeUndefined()
})

it.each(['true', 1, '1'])('takes %j for verified, as some providers write it', (isVerified) => {
  expect(parseProfile('https://id', { ...claims, email_verified: isVerified })?.email).toBe('a@example.com')
})

it.each([['a number', 583_231, '583231']])('takes a subject that is %s', (_, sub, subject) => {
  expect(parseProfile('https://id', { ...claims, sub })?.subject).toBe(subject)
})

it.each([undefined, null, '', 'x'.repeat(256), 'a\u0000b', '\ud800', 1.5, 2 ** 60, { id: 1 }])(
  'is nobody where the subject is %j',
  (sub) => {
    expect(parseProfile('https://id', { ...claims, sub })).toBeUndefined()
  },
)

it.each([
  ['too long', 'x'.repeat(300), 'x'.repeat(200)],
  ['empty', ' ', undefined],
  ['no text', { first: 'Ada' }, undefined],
  ['nothing a database can hold', 'a\u0000b', undefined],
])('has a name that fits, or none, where it is %s', (_, name, fullName) => {
  expect(parseProfile('https://id', { ...claims, name })?.fullName).toBe(fullName)
})

it.each([
  [[{ email: 'a@b.c', verified: true, primary: true }], { email: 'a@b.c', email_verified: true }],
  [
    [
      { email: 'other@b.c', verified: true, primary: false },
      { email: 'a@b.c', verified: false, primary: true },
    ],
    { email: 'a@b.c', email_verified: false },
  ],
  [[{ email: 'a@b.c', verified: true }], {}],
  [[], {}],
  ['nonsense', {}],
  [{ email: 'a@b.c', verified: true, primary: true }, {}],
])('reads the primary address of %j', (answer, expected) => {
  expect(parseAddresses(answer)).toEqual({ email: undefined, email_verified: undefined, ...expected })
})
