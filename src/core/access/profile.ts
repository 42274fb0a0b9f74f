/**
 * Parses the claims of sign-in providers into a Profile. An e-mail address counts only if the provider marks it as verified.
 * Invalid claims are omitted, except for the subject, which is required.
 */
import * as z from 'zod'
import { lazily } from '../lazily.ts'
import { lineFault } from '../message-text.ts'
import type { Profile } from './sign-in.ts'

/** Claims by their OpenID Connect names. */
export type Claims = Readonly<Record<string, unknown>>

const storable = (text: string) => text.isWellFormed() && !text.includes('\u0000')
const subjectSchema = lazily(() =>
  z
    .union([z.string().min(1).max(255).refine(storable), z.number().refine((id) => Number.isSafeInteger(id))])
    .transform(String),
)

/** ASCII only: case folding maps some other letters to ASCII, which could match another person's account. */
const emailSchema = lazily(() => z.email().max(320))

const fullNameSchema = lazily(() =>
  z
    .string()
    .trim()
    .min(1)
    .refine((text) => lineFault(text) === undefined)
    .transform((text) => [...text].slice(0, 200).join('')),
)

/** Values of `email_verified` that mean true. */
const verifiedValues: ReadonlySet<unknown> = new Set([true, 'true', 1, '1'])

/** Returns undefined without a valid subject. */
export function parseProfile(issuer: string, claims: Claims): Profile | undefined {
  const { sub, email, email_verified: isVerified, name } = claims
  const { data: subject } = subjectSchema().safeParse(sub)
  if (subject === undefined) return undefined
  return {
    issuer,
    subject,
    email: verifiedValues.has(isVerified) ? emailSchema().safeParse(email).data : undefined,
    fullName: fullNameSchema().safeParse(name).data,
  }
}

const addressesSchema = lazily(() =>
  z.array(z.object({ email: z.unknown(), verified: z.unknown(), primary: z.unknown() })),
)

/** Converts a list of `{email, verified, primary}` into the claims of its primary address. */
export function parseAddresses(answer: unknown): Claims {
  const addresses = addressesSchema().safeParse(answer).data ?? []
  const { email, verified } = addresses.find(({ primary }) => primary === true) ?? {}
  return { email, email_verified: verified }
}
