/** docs/decisions/018: whose account somebody enters whom a provider vouches for. */
import { expect, it } from 'vitest'
import { decideSignIn, type Profile, type SignInFacts } from '../../../src/core/access/sign-in.ts'

const profile: Profile = { issuer: 'https://id', subject: '7', email: 'a@example.com', fullName: undefined }
const nobody: SignInFacts = { known: null, account: null, mayJoin: false }
const account = {
  userId: 'account',
  status: 'active',
  isService: false,
  isAdministrator: false,
  isProven: true,
  isTaken: false,
} as const

const facts = (change: Partial<NonNullable<SignInFacts['account']>>) => ({
  ...nobody,
  account: { ...account, ...change },
})

it.each<[string, Partial<Profile>, SignInFacts, object]>([
  ['who was here before', {}, { ...nobody, known: { userId: 'known', status: 'active' } }, enters('known')],
  [
    'who was here before, whatever account the address is of by now',
    {},
    { ...facts({}), known: { userId: 'known', status: 'active' } },
    enters('known'),
  ],
  [
    'who was here before and has no verified address any more',
    { email: undefined },
    { ...nobody, known: { userId: 'known', status: 'active' } },
    enters('known'),
  ],
  ['who is known and suspended', {}, { ...facts({}), known: { userId: 'known', status: 'suspended' } }, refused()],
  ['who is unknown', {}, nobody, refused()],
  ['who is unknown and welcome', {}, { ...nobody, mayJoin: true }, { kind: 'create', email: 'a@example.com' }],
  ['who is welcome, without a verified address', { email: undefined }, { ...nobody, mayJoin: true }, refused()],
  ['who has an account', {}, facts({}), links(false)],
  ['who has an account whose address nobody has proven', {}, facts({ isProven: false }), links(true)],
  ['who has a suspended account', {}, { ...facts({ status: 'suspended' }), mayJoin: true }, refused()],
  ['who has the address of a service account', {}, { ...facts({ isService: true }), mayJoin: true }, refused()],
  ['who has the address of an administrator', {}, { ...facts({ isAdministrator: true }), mayJoin: true }, refused()],
  ['who has got the address of somebody else', {}, { ...facts({ isTaken: true }), mayJoin: true }, refused()],
])('decides on somebody %s', (_, change, known, decision) => {
  expect(decideSignIn({ ...profile, ...change }, known)).toEqual(decision)
})

function enters(userId: string): object {
  return { kind: 'enter', userId }
}

function links(isCleared: boolean): object {
  return { kind: 'link', userId: 'account', email: 'a@example.com', isCleared }
}

function refused(): object {
  return { kind: 'refuse' }
}
