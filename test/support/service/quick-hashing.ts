/**
 * The hash of passwords at a lower cost, for tests that are not about it: at its own, a suite would be busy with little else.
 * What is a law of the hash itself is tested at its own cost.
 */
import { createScryptPasswords } from '../../../src/platform/password.ts'

export const quickHashing = createScryptPasswords({ N: 2 ** 4, r: 8, p: 1 })
