/**
 * Any character of Unicode, a half of a pair aside: what fast-check draws as `binary`, drawn alike, without the table of
 * all characters that it makes for that in every process, which takes longer than many a test.
 */
import fc from 'fast-check'

const [FIRST_HALF, HALVES, ALL] = [0xd800, 0x800, 0x110000]

export const anyCharacter = fc.nat({ max: ALL - HALVES - 1 }).map(
  (index) => String.fromCodePoint(index < FIRST_HALF ? index : index + HALVES),
  (text) => {
    const [character, ...more] = typeof text === 'string' ? text : []
    const point = character?.codePointAt(0)
    if (point === undefined || more.length > 0) throw new Error('not one character')
    if (point < FIRST_HALF) return point
    if (point < FIRST_HALF + HALVES) throw new Error('half of a pair')
    return point - HALVES
  },
)
