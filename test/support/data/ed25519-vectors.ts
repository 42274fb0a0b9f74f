/**
 * Ed25519 signatures that a verifier must take or refuse: 98 of the 151 of Project Wycheproof (C2SP/wycheproof,
 * testvectors_v1/ed25519_test.json). All kinds that it has are here; what is left out are more known answers of the same
 * kinds (83 and 87 to 142, most of them), which once told faults of arithmetic in Go and Java. `id` is Wycheproof's `tcId`.
 */
export type Vector = {
  readonly id: number
  readonly what: string
  /** Hexadecimal, like all the others. */
  readonly publicKey: string
  readonly message: string
  readonly signature: string
  readonly isValid: boolean
}

/** The order of the group, and the prime of the field. */
const L = 2n ** 252n + 27742317777372353535851937790883648493n
const P = 2n ** 255n - 19n

const main = '7d4d0e7f6153a69b6242b522abbee685fda4420f8834b108c3bdae369ef549fa'
const other = 'a12c2beb77265f2aac953b5009349d94155a03ada416aad451319480e983ca4c'

const messages = [
  '',
  '78',
  '54657374',
  '48656c6c6f',
  '313233343030',
  '00'.repeat(12),
  '61'.repeat(65),
  Array.from({ length: 65 }, (_, index) => (0x20 + index).toString(16)).join(''),
  'ff'.repeat(16),
]

const byMain = [
  'd4fbdb52bfa726b44d1786a8c0d171c3e62ca83c9e5bbe63de0bb2483f8fd6cc1429ab72cafc41ab56af02ff8fcc43b99bfe4c7ae940f60f38ebaa9d311c4007',
  'd80737358ede548acb173ef7e0399f83392fe8125b2ce877de7975d8b726ef5b1e76632280ee38afad12125ea44b961bf92f1178c9fa819d020869975bcbe109',
  '7c38e026f29e14aabd059a0f2db8b0cd783040609a8be684db12f82a27774ab07a9155711ecfaf7f99f277bad0c6ae7e39d4eef676573336a5c51eb6f946b30d',
  '1c1ad976cbaae3b31dee07971cf92c928ce2091a85f5899f5e11ecec90fc9f8e93df18c5037ec9b29c07195ad284e63d548cd0a6fe358cc775bd6c1608d2c905',
  '657c1492402ab5ce03e2c3a7f0384d051b9cf3570f1207fc78c1bcc98c281c2bf0cf5b3a289976458a1be6277a5055545253b45b07dcc1abd96c8b989c00f301',
  'd46543bfb892f84ec124dcdfc847034c19363bf3fc2fa89b1267833a14856e52e60736918783f950b6f1dd8d40dc343247cd43ce054c2d68ef974f7ed0f3c60f',
  '879350045543bc14ed2c08939b68c30d22251d83e018cacbaf0c9d7a48db577e80bdf76ce99e5926762bc13b7b3483260a5ef63d07e34b58eb9c14621ac92f00',
  '7bdc3f9919a05f1d5db4a3ada896094f6871c1f37afc75db82ec3147d84d6f237b7e5ecc26b59cfea0c7eaf1052dc427b0f724615be9c3d3e01356c65b9b5109',
  '5dbd7360e55aa38e855d6ad48c34bd35b7871628508906861a7c4776765ed7d1e13d910faabd689ec8618b78295c8ab8f0e19c8b4b43eb8685778499e943ae04',
]

const byOther = [
  '5056325d2ab440bf30bbf0f7173199aa8b4e6fbc091cf3eb6bc6cf87cd73d992ffc216c85e4ab5b8a0bbc7e9a6e9f8d33b7f6e5ac0ffdc22d9fcaf784af84302',
  '481fafbf4364d7b682475282f517a3ac0538c9a6b6a562e99a3d8e5afb4f90a559b056b9f07af023905753b02d95eb329a35c77f154b79abbcd291615ce42f02',
  '8a9bb4c465a3863abc9fd0dd35d80bb28f7d33d37d74679802d63f82b20da114b8d765a1206b3e9ad7cf2b2d8d778bb8651f1fa992db293c0039eacb6161480f',
  'd839c20abfda1fd429531831c64f813f84b913e9928540310cf060b44c3dbf9457d44a7721fdc0d67724ff81cb450dd39b10cfb65db15dda4b8bf09d26bd3801',
  '9bbb1052dcfa8ad2715c2eb716ae4f1902dea353d42ee09fd4c0b4fcb8b52b5219e2200016e1199d0061891c263e31b0bc3b55673c19610c4e0fa5408004160b',
  'f63b5c0667c7897fc283296416f7f60e84bbde9cbd832e56be463ed9f568069702b17a2f7c341ebf590706a6388ac76ac613c1675ec0f2c7118f2573422a500b',
  '1bc44d7001e6b5b9090fef34b2ca480f9786bbefa7d279353e5881e8dfb91b803ccd46500e270ef0109bfd741037558832120bc2a4f20fbe7b5fb3c3aaf23e08',
  'ea8e22143b02372e76e99aece3ed36aec529768a27e2bb49bdc135d44378061e1f62d1ac518f33ebf37b2ee8cc6dde68a4bd7d4a2f4d6cb77f015f71ca9fc30d',
  '8acd679e1a914fc45d5fa83d3021f0509c805c8d271df54e52f43cfbd00cb6222bf81d58fe1de2de378df67ee9f453786626961fe50a9b05f12b6f0899ebdd0a',
]

/** R with one bit changed, or another R altogether, and the S that goes with it; all of message `313233343030`. */
const otherR: readonly (readonly [what: string, signature: string])[] = [
  [
    'bit 0 of R',
    '647c1492402ab5ce03e2c3a7f0384d051b9cf3570f1207fc78c1bcc98c281c2b1d125e5538f38afbcc1c84e489521083041d24bc6240767029da063271a1ff0c',
  ],
  [
    'bit 1 of R',
    '677c1492402ab5ce03e2c3a7f0384d051b9cf3570f1207fc78c1bcc98c281c2bc108ca4b87a49c9ed2cf383aecad8f54a962b2899da891e12004d7993a627e01',
  ],
  [
    'bit 2 of R',
    '617c1492402ab5ce03e2c3a7f0384d051b9cf3570f1207fc78c1bcc98c281c2b9ce23fc6213ed5b87912e9bbf92f5e2c780eae26d15c50a112d1e97d2ea33c06',
  ],
  [
    'bit 7 of R',
    'e57c1492402ab5ce03e2c3a7f0384d051b9cf3570f1207fc78c1bcc98c281c2bbb3eb51cd98dddb235a5f46f2bded6af184a58d09cce928bda43f41d69118a03',
  ],
  [
    'bit 8 of R',
    '657d1492402ab5ce03e2c3a7f0384d051b9cf3570f1207fc78c1bcc98c281c2bcd237dda9a116501f67a5705a854b9adc304f34720803a91b324f2c13e0f5a09',
  ],
  [
    'bit 16 of R',
    '657c1592402ab5ce03e2c3a7f0384d051b9cf3570f1207fc78c1bcc98c281c2b6b167bbdc0d881cc04d28905552c1876f3709851abc5007376940cc8a435c300',
  ],
  [
    'bit 31 of R',
    '657c1412402ab5ce03e2c3a7f0384d051b9cf3570f1207fc78c1bcc98c281c2b7fd2ac7da14afffcceeb13f2a0d6b887941cb1a5eb57a52f3cb131a16cce7b0e',
  ],
  [
    'bit 32 of R',
    '657c1492412ab5ce03e2c3a7f0384d051b9cf3570f1207fc78c1bcc98c281c2b7373ba13ebbef99cd2a8ead55ce735c987d85a35320925a8e871702dc7c5c40d',
  ],
  [
    'bit 63 of R',
    '657c1492402ab54e03e2c3a7f0384d051b9cf3570f1207fc78c1bcc98c281c2bd35bd331c03f0855504ca1cab87b83c36a028425a3cf007ede4f4254c261cb00',
  ],
  [
    'bit 64 of R',
    '657c1492402ab5ce02e2c3a7f0384d051b9cf3570f1207fc78c1bcc98c281c2bcb35101f73cf467deac8c1a03b6c3dc35af544132734b7e57ab20c89b2e4750d',
  ],
  [
    'bit 97 of R',
    '657c1492402ab5ce03e2c3a7f2384d051b9cf3570f1207fc78c1bcc98c281c2bb58d2e8878290bff8d3355fdd4ea381924ee578752354eb6dee678ab4011c301',
  ],
  [
    'bit 127 of R',
    '657c1492402ab5ce03e2c3a7f0384d851b9cf3570f1207fc78c1bcc98c281c2bb978c866187ffb1cc7b29a0b4045aefc08768df65717194ff0c6e63f4dea0d02',
  ],
  [
    'bit 240 of R',
    '657c1492402ab5ce03e2c3a7f0384d051b9cf3570f1207fc78c1bcc98c281d2b0576ecf8eaf675f00f3dfbe19f75b83b7607a6c96414f6821af920a2498d0305',
  ],
  [
    'bit 247 of R',
    '657c1492402ab5ce03e2c3a7f0384d051b9cf3570f1207fc78c1bcc98c289c2be5241a345c7b5428054c74b7c382fa10d4a5f1e8f8b79a71d3fdea2254f1ff0e',
  ],
  [
    'bit 248 of R',
    '657c1492402ab5ce03e2c3a7f0384d051b9cf3570f1207fc78c1bcc98c281c2a63950c85cd6dc96364e768de50ff7732b538f8a0b1615d799190ab600849230e',
  ],
  [
    'bit 253 of R',
    '657c1492402ab5ce03e2c3a7f0384d051b9cf3570f1207fc78c1bcc98c281c0b543bd3da0a56a8c9c152f59c9fec12f31fa66434d48b817b30d90cb4efa8b501',
  ],
  [
    'bit 254 of R',
    '657c1492402ab5ce03e2c3a7f0384d051b9cf3570f1207fc78c1bcc98c281c6b8da07efd07a6dafb015ed6a32fe136319a972ffbc341f3a0beae97ccf8136505',
  ],
  [
    'bit 255 of R',
    '657c1492402ab5ce03e2c3a7f0384d051b9cf3570f1207fc78c1bcc98c281cab227aedf259f910f0f3a759a335062665217925d019173b88917eae294f75d40f',
  ],
  [
    'R is 0',
    '0000000000000000000000000000000000000000000000000000000000000000e0b8e7770d51c7a36375d006c5bffd6af43ff54aaf47e4330dc118c71d61ec02',
  ],
  [
    'R is no point',
    'ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff463a1908382e7eb7693acef9884f7cf931a215e0791876be22c631a59881fd0e',
  ],
  [
    'all bits of R',
    '9a83eb6dbfd54a31fc1d3c580fc7b2fae4630ca8f0edf803873e433673d7e3d40e94254586cb6188c5386c3febed477cb9a6cb29e3979adc4cb27cf5278fb70a',
  ],
]

/** From which a byte was cut that happens to be 0, or any. */
const cut: readonly (readonly [message: string, signature: string])[] = [
  [
    '546573743137',
    '93de3ca252426c95f735cb9edd92e83321ac62372d5aa5b379786bae111ab6b17251330e8f9a7c30d6993137c596007d7b001409287535ac4804e662bc58a3',
  ],
  [
    '54657374313236',
    'dffed33a7f420b62bb1731cfd03be805affd18a281ec02b1067ba6e9d20826569e742347df59c88ae96db1f1969fb189b0ec34381d85633e1889da48d95e0e',
  ],
  [
    '546573743530',
    '6e170c719577c25e0e1e8b8aa7a6346f8b109f37385cc2e85dc3b4c0f46a9c6bcafd67f52324c5dbaf40a1b673fb29c4a56052d2d6999d0838a8337bccb502',
  ],
  [
    '54657374333437',
    'b0928b46e99fbbad3f5cb502d2cd309d94a7e86cfd4d84b1fcf4cea18075a9c36993c0582dba1e9e519fae5a8654f454201ae0c3cb397c37b8f4f8eef18400',
  ],
]

type Known = readonly [publicKey: string, message: string, signature: string]

const known: readonly Known[] = [
  [
    'd75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a',
    '',
    'e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b',
  ],
  [
    '3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c',
    '72',
    '92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00',
  ],
  [
    'fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025',
    'af82',
    '6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac18ff9b538d16f290ae67f760984dc6594a7c15e9716ed28dc027beceea1ec40a',
  ],
]

/** Known answers that some verifier has once refused. */
const refusedOnce: readonly (readonly [id: number, ...Known])[] = [
  [
    86,
    '8fd659b77b558ed93882c1157438450ac86ec62d421d568e98ee236f3810295a',
    'b0729a713593a92e46b56eaa66b9e435f7a09a8e7de03b078f6f282285276635f301e7aaafe42187c45d6f5b13f9f16b11195cc125c05b90d24dfe4c',
    '7db17557ac470c0eda4eedaabce99197ab62565653cf911f632ee8be0e5ffcfc88fb94276b42e0798fd3aa2f0318be7fc6a29fae75f70c3dcdc414a0ad866601',
  ],
  [
    89,
    '32ad026f693d0d2afe7f4388d91c4c964426fcb9e3665c3ebd8650009b815c8e',
    'ec5c7cb078',
    'd920d421a5956b69bfe1ba834c025e2babb6c7a6d78c97de1d9bb1116dfdd1185147b2887e34e15578172e150774275ea2aad9e02106f7e8ca1caa669a066f0c',
  ],
  [
    90,
    '32ad026f693d0d2afe7f4388d91c4c964426fcb9e3665c3ebd8650009b815c8e',
    '4668c6a76f0e482190a7175b9f3806a5fe4314a004fa69f988373f7a',
    '4f62daf7f7c162038552ad7d306e195baa37ecf6ca7604142679d7d1128e1f8af52e4cb3545748c44ef1ff1c64e877e4f4d248259b7f6eb56e3ef72097dc8e0c',
  ],
  [
    91,
    'c29ec1894e06d27b4e40486b4fa5063d66a746c7f9c323b12203c03b72b8b78a',
    '0f325ffd87e58131ffa23c05ea4579513b287fdba87b44',
    '6669acf94667c5b541afe5307bde9476b13ae7e0e6058a772101ac8eb0a94331428eb4db0a2c68a9b6c1763b8624dab259b0876cdcfaeacc17b21a18e3fc010a',
  ],
  [
    92,
    'cfda5b899e35764c5229e59295fe1222b7ddce176643697c29e46ecbba10cf10',
    'ec5c7cb078',
    '30490c28f806298225df62103521dcee047153912c33ab8ab8bbdd1ffabd70fd4fdb360f05be535b067d1cf4e78c2cb432206bf280aab3bd21aaa1cb894c5b06',
  ],
  [
    143,
    'bad265b294ed2f422cb6a141694086238fbfe987571aa765d8b4f3a24105aa01',
    '01a2b5f7fee813b4e9bd7fc25137648004795010',
    '61792c9442bc6338ac41fd42a40bee9b02ec1836503d60ff725128c63d72808880c36e6190b7da525cbee5d12900aa043547dd14a2709ef9e49d628f37f6b70c',
  ],
  [
    144,
    '0aaee4b723db9b51ba7d22eb23eb8a76a5ac02f4fc9dd06f77bea42e1d37ec5a',
    '0fbf5d47cb5d498feace8f98f1896208da38a885',
    'fa3cd41e3a8c00b19eecd404a63c3cb787cd30de0dfc936966cff2117f5aff18db6bef80fcfd8856f3fb2e9c3dc47593e9471103032af918feee638a33d40505',
  ],
  [
    145,
    '812344af15a91ba83c2c91e96f1727ac0f3c4c41385b9fa84efa399ada5168be',
    '36e67c1939750bffb3e4ba6cb85562612275e862',
    '97fbbcd7a1d0eb42d2f8c42448ef35a2c2472740556b645547865330d6c57068af377fced08aaf810c08cd3c43d296f1975710312e9334c98b485f831efa4103',
  ],
  [
    146,
    '0ee5cb5597fbdf8dccc48b01485e39b33aa133b52d30d23740277267cfec3e3e',
    '13945c894c1d3fe8562e8b20e5f0efaa26ade8e3',
    'd7dbaa337ffd2a5fd8d5fd8ad5aeccc0c0f83795c2c59fe62a40b87903b1ae62ed748a8df5af4d32f9f822a65d0e498b6f40eaf369a9342a1164ee7d08b58103',
  ],
  [
    147,
    '9fba1de92b60b5b4703089763d0d6f9125e4dd7efae41f08a22882aef96892c4',
    '4de142af4b8402f80a47fa812df84f42e283cee7',
    '09a2ed303a2fa7027a1dd7c3b0d25121eeed2b644a2fbc17aa0c8aea4524071ede7e7dd7a536d5497f8165d29e4e1b63200f74bbae39fbbbccb29889c62c1f09',
  ],
  [
    148,
    '7582ab1b52e1316e5c13671f43b39ca36b28133cd0832831bcddd0b0f23398cb',
    '563357f41b8b23b1d83f19f5667177a67da20b18',
    'e6884a6e6b2e60a0b5862251c001e7c79d581d777d6fc11d218d0aecd79f26a30e2ca22cc7c4674f8b72655bc4ee5cb5494ca07c05177656142ac55cc9d33e02',
  ],
  [
    149,
    'dd2d678bae222f3fb6e8278f08cc9e1a66339c926c29ac0a16f9717f5ee18cd8',
    '931bbf9c877a6571cf7d4609fc3eb867edd43f51',
    '6124c206d864507ea5d984b363b4cf583314db6856a45ded5e61eebff4d5e337e0b4c82b445ae2e52d549d2d961eace2ea01f81158e09a9686baa040db65ad08',
  ],
  [
    150,
    'ccbe7cb2e4bc215cee2f885e1d22f7e0d582b2bbbd782c104e548b152d26fc69',
    '44530b0b34f598767a7b875b0caee3c7b9c502d1',
    'cfbd450a2c83cb8436c348822fe3ee347d4ee937b7f2ea11ed755cc52852407c9eec2c1fa30d2f9aef90e89b2cc3bcef2b1b9ca59f712110d19894a9cf6a2802',
  ],
]

const test = { message: messages[2] ?? '', signature: byMain[2] ?? '' }
const [testR, testS] = [test.signature.slice(0, 64), test.signature.slice(64)]

export const vectors: readonly Vector[] = [
  ...byMain.map((signature, index) =>
    vector(1 + index, 'valid', { message: messages[index] ?? '', signature, isValid: true }),
  ),
  ...[0n, 1n, L, P].flatMap((r, row) =>
    [0n, 1n, L - 1n, L, P].map((s, column) =>
      vector(10 + row * 5 + column, 'special values of R and S', { message: '3f', signature: little(r) + little(s) }),
    ),
  ),
  ...[
    ['empty', ''],
    ['S missing', testR],
    ['too short', test.signature.slice(0, -4)],
    ['too long', `${test.signature}2020`],
    ['the public key behind it', test.signature + main],
    ['a 0 in front of it', `00${test.signature}`],
    ['a 0 in front of S', `${testR}00${testS}`],
    ['a 0 behind it', `${test.signature}00`],
  ].map(([what = '', signature = ''], index) => vector(30 + index, what, { message: test.message, signature })),
  ...cut.map(([message, signature], index) => vector(38 + index, 'a byte cut out', { message, signature })),
  ...otherR.map(([what, signature], index) => vector(42 + index, what, { message: messages[4] ?? '', signature })),
  ...[L, 2n * L, 4n * L, 8n * L, 2n ** 253n, 2n ** 254n, 2n ** 255n, P].map((more, index) =>
    vector(63 + index, 'S with something added', {
      message: test.message,
      signature: testR + little(number(testS) + more),
    }),
  ),
  ...byOther.map((signature, index) =>
    vector(71 + index, 'valid', { publicKey: other, message: messages[index] ?? '', signature, isValid: true }),
  ),
  ...known.map(([publicKey, message, signature], index) =>
    vector(80 + index, 'known', { publicKey, message, signature, isValid: true }),
  ),
  vector(84, 'S just under the bound', {
    publicKey: '100fdf47fb94f1536a4f7c3fda27383fa03375a8f527c537e6f1703c47f94f86',
    message: '124e583f8b8eca58bb29c271b41d36986bbc45541f8e51f9cb0133eca447601e',
    signature:
      'dac119d6ca87fc59ae611c157048f4d4fc932a149dbe20ec6effd1436abf83ea05c7df0fef06147241259113909bc71bd3c53ba4464ffcad3c0968f2ffffff0f',
    isValid: true,
  }),
  vector(85, 'S just above the bound', {
    publicKey: '100fdf47fb94f1536a4f7c3fda27383fa03375a8f527c537e6f1703c47f94f86',
    message: '6a0bc2b0057cedfc0fa2e3f7f7d39279b30f454a69dfd1117c758d86b19d85e0',
    signature:
      '0971f86d2c9c78582524a103cb9cf949522ae528f8054dc20107d999be673ff4e25ebf2f2928766b1248bec6e91697775f8446639ede46ad4df4053000000010',
  }),
  ...refusedOnce.map(([id, publicKey, message, signature]) =>
    vector(id, 'refused once', { publicKey, message, signature, isValid: true }),
  ),
  vector(151, 'R with a sign that no point has', {
    publicKey: 'd75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a',
    message: '313233343030',
    signature:
      '0100000000000000000000000000000000000000000000000000000000000080c803ee1f2342aa96ff698a393d1ab5e66f3eda101d6d120b394c3fd32c117d0a',
  }),
]

/** Signatures that no key may have made of anything: for the place of a genuine one in a token. */
export function forgedSignatures(genuine: Uint8Array): readonly Uint8Array[] {
  const [r, s] = [genuine.slice(0, 32), genuine.slice(32)]
  const special = [0n, 1n, L - 1n, L, P].map((value) => Buffer.from(little(value), 'hex'))
  const larger = [L, 2n * L, 4n * L, 8n * L, 2n ** 253n, 2n ** 254n, P].map((more) => {
    const sum = number(Buffer.from(s).toString('hex')) + more
    return Buffer.from(little(sum % 2n ** 256n), 'hex')
  })
  return [
    ...special.flatMap((one) => special.map((two) => Buffer.concat([one, two]))),
    ...larger.map((value) => Buffer.concat([r, value])),
    ...[0, 7, 8, 127, 255].map((bit) => flipped(genuine, bit)),
    genuine.slice(0, 32),
    genuine.slice(0, 63),
    Buffer.concat([genuine, Buffer.from([0])]),
    Buffer.concat([Buffer.from([0]), genuine]),
    new Uint8Array(0),
  ]
}

function flipped(bytes: Uint8Array, bit: number): Uint8Array {
  const copy = Uint8Array.from(bytes)
  copy[bit >> 3] = (copy[bit >> 3] ?? 0) ^ (1 << (bit & 7))
  return copy
}

type Given = {
  readonly publicKey?: string
  readonly message: string
  readonly signature: string
  readonly isValid?: boolean
}

function vector(id: number, what: string, { publicKey = main, isValid = false, ...given }: Given): Vector {
  return { id, what, publicKey, isValid, ...given }
}

/** 32 bytes, the least significant first. */
function little(value: bigint): string {
  return Array.from({ length: 32 }, (_, index) => Number((value >> BigInt(8 * index)) & 255n))
    .map((byte) => byte.toString(16).padStart(2, '0'))
    .join('')
}

function number(hex: string): bigint {
  return BigInt(`0x${hex.match(/../g)?.toReversed().join('') ?? '0'}`)
}
