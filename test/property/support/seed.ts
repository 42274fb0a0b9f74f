/** One seed for rows and requests (test/support/run/seed.ts), printed on every run; SERVICE_TEST_SEED repeats one. */
export const seed = Number(process.env.SERVICE_TEST_SEED)

export function announce(title: string): void {
  console.log(`${title}: SERVICE_TEST_SEED=${seed}`)
}
