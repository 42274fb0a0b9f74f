/**
 * What providers say of people, in their own words → Profile. An address counts only where the provider says that it is
 * verified; what cannot be read as said is left out, but for the subject, without whom there is nobody.
 */
import * as z from 'zod'
import { lazily } from '../lazily.ts'
import type { Profile } from './sign-in.ts'

/** Claims by their names in OpenID Connect. */
export type Claims = Readonly<Record<string, unknown>>

const storable = (text: string) => text.isWellFormed() && !text.includes('\u0000')
const subjectSchema = lazily(() =>
  z
    .union([z.string().min(1).max(255).refine(storable), z.number().refine((id) => Number.isSafeInteger(id))])
    .transform(String),
)

/** ASCII alone: other letters become these when cases are folded, and the account somebody else's. */
const emailSchema = lazily(() => z.email().max(320))

const fullNameSchema = lazily(() =>
  z
    .string()
    .trim()
    .min(1)
    .refine(storable)
    .transform((text) => [...text].slice(0, 200).join('')),
)

/** As providers write it. */
const yes: ReadonlySet<unknown> = new Set([true, 'true', 1, '1'])

/** Undefined where the subject is none. */
export function parseProfile(issuer: string, claims: Claims): Profile | undefined {
  const { sub, email, email_verified: isVerified, name } = claims
  const { data: subject } = subjectSchema().safeParse(sub)
  if (subject === undefined) return undefined
  return {
    issuer,
    subject,
    email: yes.has(isVerified) ? emailSchema().safeParse(email).data : undefined,
    fullName: fullNameSchema().safeParse(name).data,
  }
}

const addressesSchema = lazily(() =>
  z.array(z.object({ email: z.unknown(), verified: z.unknown(), primary: z.unknown() })),
)

/** The primary one out of a list of `{email, verified, primary}`, as claims. */
export function parseAddresses(answer: unknown): Claims {
  const addresses = addressesSchema().safeParse(answer).data ?? []
  const { email, verified } = addresses.find(({ primary }) => primary === true) ?? {}
  return { email, email_verified: verified }
}
