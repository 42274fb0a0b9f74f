/** One seed for rows and requests, printed on every run; SERVICE_TEST_SEED repeats one. */
const given = process.env.SERVICE_TEST_SEED

export const seed = given === undefined ? Math.floor(Math.random() * 2 ** 31) : Number(given)

export function announce(title: string): void {
  console.log(`${title}: SERVICE_TEST_SEED=${seed}`)
}
