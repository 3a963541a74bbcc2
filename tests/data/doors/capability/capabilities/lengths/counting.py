"""How long references are, in words."""


def counted(records, longest):
    words = {record.id: sum(len(sentence.split(" ")) for sentence in record.target) for record in records}
    return {name: min(longest, count) for name, count in words.items()}
