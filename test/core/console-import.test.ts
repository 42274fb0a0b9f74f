/** Which column of a file becomes which field of the console's import (console/src/screens/transfer). */
import { expect, it } from 'vitest'
import { planOf } from '../../console/src/screens/transfer/plan.ts'

const field = (name: string, title: string) => ({ name, title })
const fields = [field('name', 'Title'), field('title', 'Heading')]

it.each([
  ['by its name', ['title', 'name'], { title: 'title', name: 'name' }],
  ['by its name in other letters', [' NAME', 'x'], { ' NAME': 'name' }],
  ['by its title', ['heading'], { heading: 'title' }],
  ['by its name before a title', ['Title', 'Heading'], { Title: 'title' }],
  ['once, by the exact name', ['Name', 'name'], { name: 'name' }],
  ['once, by the first of equal ones', ['NAME', 'Name'], { NAME: 'name' }],
])('is a field %s', (_, names, planned) => {
  const plan = planOf(names, fields)

  expect(Object.fromEntries([...plan].map(([column, { name }]) => [column, name]))).toEqual(planned)
})
