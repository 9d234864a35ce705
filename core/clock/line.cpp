// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include "clock/line.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <vector>

namespace ringscope::clock {
namespace {

/// Without two moments nothing is known of the drift but what clocks of computers do: they are built to 100
/// millionths, and the kernel slows or hastens them by 500 at most.
constexpr double most_drift = 1e-3;

/// An exchange as a point of the line: at this moment, this offset, right within half of the round trip.
struct Point {
    std::int64_t at_ns, offset_ns, half_ns;
};

Point point_of(const Exchange& e) {
    const std::int64_t middle = e.asked_ns + (e.heard_ns - e.asked_ns) / 2;
    return {middle, e.answered_ns - middle, e.heard_ns - middle};
}

double weight(const Point& p) {
    const double half_ns = static_cast<double>(std::max<std::int64_t>(1, p.half_ns));
    return 1 / (half_ns * half_ns);
}

double mean(const std::vector<Point>& points, std::int64_t Point::*value, std::int64_t from) {
    double sum = 0, weights = 0;
    for (const Point& p : points) {
        sum += weight(p) * static_cast<double>(p.*value - from);
        weights += weight(p);
    }
    return sum / weights;
}

/// At the moment of the last point, without the error.
Line least_squares(const std::vector<Point>& points) {
    const Point& last = points.back();
    const double x = mean(points, &Point::at_ns, last.at_ns);
    const double y = mean(points, &Point::offset_ns, last.offset_ns);
    double xx = 0, xy = 0;
    for (const Point& p : points) {
        const double dx = static_cast<double>(p.at_ns - last.at_ns) - x;
        xx += weight(p) * dx * dx;
        xy += weight(p) * dx * (static_cast<double>(p.offset_ns - last.offset_ns) - y);
    }
    const double drift = xx > 0 ? xy / xx : 0;
    return {.at_ns = last.at_ns, .offset_ns = last.offset_ns + std::llround(y - drift * x), .drift = drift};
}

std::int64_t round_up(double ns) {
    return static_cast<std::int64_t>(std::ceil(ns));
}

/// The truth at an exchange, and how far off the line it may be.
struct Bound {
    std::int64_t at_ns;
    double off_ns;
};

/// The clock's own nanoseconds are not quite those of the reference, of which the half is.
std::vector<Bound> bounds_of(const std::vector<Point>& points, const Line& line) {
    constexpr double rounding_ns = 1;
    std::vector<Bound> bounds;
    for (const Point& p : points) {
        const auto half_ns = static_cast<double>(p.half_ns) * (1 + most_drift);
        const auto missed_ns = static_cast<double>(std::abs(p.offset_ns - line.offset_at(p.at_ns)));
        bounds.push_back({p.at_ns, half_ns + missed_ns + rounding_ns});
    }
    return bounds;
}

/// What these two allow the truth to drift off the line; without bound unless one is before the other.
double drift_between(const Bound& first, const Bound& second) {
    if (first.at_ns >= second.at_ns) return std::numeric_limits<double>::infinity();
    return (first.off_ns + second.off_ns) / static_cast<double>(second.at_ns - first.at_ns);
}

/// How far off the line the truth may be at `now_ns`, by these two.
double off_at(std::int64_t now_ns, const Bound& first, const Bound& second) {
    const double drift = drift_between(first, second);
    return std::isinf(drift) ? drift : second.off_ns + drift * static_cast<double>(now_ns - second.at_ns);
}

}  // namespace

std::int64_t Line::offset_at(std::int64_t reference_ns) const {
    return offset_ns + std::llround(drift * static_cast<double>(reference_ns - at_ns));
}

std::int64_t Line::error_at(std::int64_t reference_ns) const {
    return error_ns + round_up(drift_error * static_cast<double>(std::abs(reference_ns - at_ns)));
}

std::int64_t Line::from_reference(std::int64_t reference_ns) const {
    return reference_ns + offset_at(reference_ns);
}

std::int64_t Line::to_reference(std::int64_t own_ns) const {
    const auto since = static_cast<double>(own_ns - offset_ns - at_ns);
    return own_ns - offset_ns - std::llround(drift / (1 + drift) * since);
}

Line fit(std::span<const Exchange> exchanges) {
    std::vector<Point> points;
    for (const Exchange& e : exchanges) points.push_back(point_of(e));
    const Line line = least_squares(points);
    const std::vector<Bound> bounds = bounds_of(points, line);
    const Bound& last = bounds.back();
    const Bound& first =
        *std::ranges::min_element(bounds, {}, [&](const Bound& b) { return drift_between(b, last); });
    const Bound& second =
        *std::ranges::min_element(bounds, {}, [&](const Bound& b) { return off_at(last.at_ns, first, b); });
    const double drift_error = drift_between(first, second);
    return {
        .at_ns = second.at_ns,
        .offset_ns = line.offset_at(second.at_ns),
        .drift = line.drift,
        .error_ns = round_up(second.off_ns),
        .drift_error = std::isinf(drift_error) ? most_drift : drift_error};
}

Line compose(const Line& first, const Line& second) {
    constexpr std::int64_t rounding_ns = 2;
    const double first_weight = 1 + std::abs(second.drift) + second.drift_error;
    const double second_weight = 1 + std::abs(first.drift) + first.drift_error;
    Line line{.at_ns = std::max(first.at_ns, first.to_reference(second.at_ns))};
    const std::int64_t between_ns = first.from_reference(line.at_ns);
    line.offset_ns = first.offset_at(line.at_ns) + second.offset_at(between_ns);
    line.drift = first.drift + second.drift + first.drift * second.drift;
    line.error_ns = round_up(first_weight * static_cast<double>(first.error_at(line.at_ns))) +
                    second.error_at(between_ns) + rounding_ns;
    line.drift_error = first_weight * first.drift_error + second_weight * second.drift_error;
    return line;
}

}  // namespace ringscope::clock
