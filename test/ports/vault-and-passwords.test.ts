/** The laws of the Vault and Passwords ports; the same code serves both platforms. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { scryptPasswords } from '../../src/platform/password.ts'
import { openVault } from '../../src/platform/vault.ts'

describe('the vault', () => {
  const vault = openVault('a secret of the instance')

  it('opens what it sealed, whatever the text', async () => {
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: 'grapheme' }), fc.string(), async (text, purpose) => {
        const sealed = await vault.seal(purpose, text)

        expect(sealed).toMatch(/^v1\.[\w-]+$/)
        expect(await vault.open(purpose, sealed)).toBe(text)
      }),
    )
  })

  it('seals the same text differently each time', async () => {
    expect(await vault.seal('source', 'text')).not.toBe(await vault.seal('source', 'text'))
  })

  it('opens in another process that has the same secret', async () => {
    const sealed = await vault.seal('source', 'text')

    expect(await openVault('a secret of the instance').open('source', sealed)).toBe('text')
  })

  it('refuses another purpose, another secret and every changed character', async () => {
    const sealed = await vault.seal('source', 'text')
    // The last character carries bits that mean nothing, so it is left alone.
    const damaged = Array.from(sealed.slice(0, -1), (character, index) => {
      return sealed.slice(0, index) + (character === 'A' ? 'B' : 'A') + sealed.slice(index + 1)
    })

    await expect(vault.open('license', sealed)).rejects.toThrow('cannot be opened')
    await expect(openVault('another').open('source', sealed)).rejects.toThrow('cannot be opened')
    await expect(vault.open('source', 'text')).rejects.toThrow('not a sealed text')
    await expect(vault.open('source', 'v1.')).rejects.toThrow('cannot be opened')
    const outcomes = await Promise.allSettled(damaged.map((text) => vault.open('source', text)))
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toEqual([])
  })
})

describe('passwords', () => {
  it('matches the password and no other', async () => {
    const hash = await scryptPasswords.hash('correct horse ✓')

    expect(hash).toMatch(/^scrypt\$16384\$8\$5\$[\w-]{22}\$[\w-]{43}$/)
    expect(await scryptPasswords.verify('correct horse ✓', hash)).toBe(true)
    expect(await scryptPasswords.verify('correct horse', hash)).toBe(false)
    expect(await scryptPasswords.verify('', hash)).toBe(false)
  })

  it('salts each hash', async () => {
    expect(await scryptPasswords.hash('same')).not.toBe(await scryptPasswords.hash('same'))
  })

  it('verifies a hash of another cost', async () => {
    const hash = 'scrypt$1024$8$1$AAAAAAAAAAAAAAAAAAAAAA$zqHLwQm3mXnyQqzykOJ3tdeIDNQwCYDCvwiC9MFh4yA'

    expect(await scryptPasswords.verify('password', hash)).toBe(true)
  })

  it('never matches an unknown account or a text that is no hash', async () => {
    expect(await scryptPasswords.verify('wrong', undefined)).toBe(false)
    expect(await scryptPasswords.verify('wrong', 'plain text')).toBe(false)
  })
})
